"""What the scripts of this folder share: tables, numbers, files with marked parts, turns."""
import contextlib
import fcntl
import os


def number(value):
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def put(path, name, text):
    """Between the two marks of this name in a file that has them; else as the whole file."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if os.path.exists(path):
        with open(path) as file:
            old = file.read()
        if begin in old and end in old:
            text = old[:old.index(begin) + len(begin)] + text + old[old.index(end):]
    with open(path, "w") as file:
        file.write(text)


@contextlib.contextmanager
def turn(path):
    """Holds a lock on the file; none when there is no path."""
    if not path:
        yield
        return
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
