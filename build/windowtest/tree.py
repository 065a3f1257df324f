"""Prints the accessibility tree of the app's window, one "role: name [height]" a line.

Run by the system's Python, inside the window's D-Bus session: tree.py PID SECONDS
It waits until the page has shown itself, at most SECONDS.
"""
import sys
import time

import pyatspi


def height(node):
    try:
        return node.queryComponent().getExtents(pyatspi.WINDOW_COORDS).height
    except NotImplementedError:
        return 0


def walk(node, depth, lines):
    if node is None or depth > 60:
        return
    try:
        lines.append(f"{node.getRoleName()}: {node.name} [{height(node)}]")
        for child in node:
            walk(child, depth + 1, lines)
    except Exception:  # a part of the tree that went away while it was read
        return


def tree(pid):
    lines = []
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.get_process_id() == pid:
            walk(app, 0, lines)
    return lines


deadline = time.time() + float(sys.argv[2])
while True:
    lines = tree(int(sys.argv[1]))
    if any("New session" in line for line in lines) or time.time() > deadline:
        print("\n".join(lines))
        break
    time.sleep(0.5)
