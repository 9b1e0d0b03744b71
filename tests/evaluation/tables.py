"""Tasks whose gold and submissions are tables of numbers."""



def manifest(folder, **tables):
    """A task of tables: `test_set` and `metric` as inline TOML, a submission for every file in systems/."""
    folder.mkdir(exist_ok=True)
    (folder / "task.toml").write_text("\n".join([
        "manifest = 1", '[task]\nid = "t"', "[[test_set]]", 'name = "test"', tables["test_set"],
        *(f"[[metric]]\n{metric}" for metric in tables["metric"]), "[significance]", "seed = 1",
        tables.get("significance", ""), tables.get("submit", '[[submit]]\nfile = "{system}.csv"'), ""]))
    return folder / "task.toml"
