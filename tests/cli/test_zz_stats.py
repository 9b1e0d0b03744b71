import re, collections, pytest
import tests.cli.test_check_agrees as m
C = collections.Counter(); W=[]
def test_stats(_many=None):
    orig = m.agree
    def agree(manifest, root, db):
        before=db.exists()
        try:
            code = orig(manifest, root, db)
        except AssertionError as e:
            C["DISAGREE"] += 1; W.append(str(e)[:1500]); return 0
        except Exception as e:
            import traceback
            C["CRASH"] += 1; W.append(traceback.format_exc()[-1500:]); return 0
        C[code, before] += 1
        return code
    m.agree = agree
    m.test_what_run_refuses_of_a_mutated_task_check_refuses_first()
    print(C)
    for w in W: print("-----", w)
