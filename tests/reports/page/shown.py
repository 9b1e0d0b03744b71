"""What a page shows."""


def systems(page):
    return page.locator("#standings tbody tr:visible th").all_inner_texts()


def fragment(page):
    return page.url.partition("#")[2]


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell
