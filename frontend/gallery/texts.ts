export const pytest = `Asia/Kolkata      1 failed, 41 passed in 1.31s
\u001b[31mE   assert parse('…+05:30').utcoffset() == timedelta(seconds=18000)\u001b[0m
America/St_Johns  1 failed, 41 passed in 1.28s
\u001b[32mUTC               42 passed in 1.27s\u001b[0m
`;

export const parserDiff = `--- a/src/parser.py
+++ b/src/parser.py
@@ -82,9 +82,11 @@ def parse_offset(text):
     m = OFFSET.match(text)
     if m is None:
         return None
     sign = -1 if m[1] == '-' else 1
-    hours = int(m[2]) // 1
-    offset = sign * hours * 3600
+    hours, minutes = int(m[2]), int(m[3] or 0)
+    # Half-hour zones keep their minutes.
+    offset = sign * (hours * 3600 + minutes * 60)
     return tz(timedelta(seconds=offset))
`;

export const testDiff = `--- a/tests/test_parse.py
+++ b/tests/test_parse.py
@@ -40,3 +40,7 @@
 def test_parse_offset():
     assert parse('2026-01-01T00:00:00+01:00').utcoffset() == timedelta(hours=1)
+
+@pytest.mark.parametrize('text, seconds', OFFSETS)
+def test_half_hours(text, seconds):
+    assert parse(text).utcoffset() == timedelta(seconds=seconds)
`;

export const answer = `The test failed only where the machine's clock was set to a zone with **half-hour offsets**. Three things came together:

1. \`parse_offset\` divided by 3600 *before* it kept the remainder.
2. The test read the local zone instead of naming one.
3. CI picks machines from regions at random, so it failed about one time in ten.

Now the parser keeps the minutes:

\`\`\`python
def parse_offset(text: str) -> tzinfo | None:
    m = OFFSET.match(text)
    if m is None:
        return None
    sign = -1 if m[1] == "-" else 1
    hours, minutes = int(m[2]), int(m[3] or 0)
    return tz(timedelta(seconds=sign * (hours * 3600 + minutes * 60)))
\`\`\`

| zone | before | after |
|---|---:|---:|
| UTC | 0 | 0 |
| Asia/Kolkata | 18,000 | 19,800 |
| America/St_Johns | −10,800 | −12,600 |

> The failing test is pinned to six offsets now, so that it would have caught this on any machine.

See [the RFC](https://www.rfc-editor.org/rfc/rfc3339) and [src/parser.py](src/parser.py:88). All 48 tests pass.`;

export const patch = `*** Begin Patch
*** Update File: src/parser.py
@@ def parse(text: str) -> date:
     text = text.strip()
-    return datetime.strptime(text, "%d.%m.%Y").date()
+    for form in FORMS:
+        try:
+            return datetime.strptime(text, form).date()
+        except ValueError:
+            continue
+    raise ValueError(f"not a date: {text!r}")
*** Add File: tests/test_parse.py
+from parser import parse
+
+def test_both_forms():
+    assert parse("31.12.2026") == parse("2026-12-31")
*** Delete File: src/legacy/very/deep/inside/a/folder/old_parser_that_nobody_uses.py
*** End Patch`;
