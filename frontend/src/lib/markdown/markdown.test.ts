import { describe, expect, test } from 'vitest';
import { lex, renderBlock, sanitise } from './render';
import { MarkdownStream } from './stream';
import { closeInline, inFence, settleTail } from './tail';

function html(text: string): string {
  return new MarkdownStream()
    .update(text, false)
    .map(({ block }) => (block.kind === 'html' ? block.html : `<code-block lang="${block.lang}">${block.code}</code-block>`))
    .join('');
}

// What an attacker may get a model to write.
const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.example/pixel.png">',
  '![pixel](https://evil.example/pixel.png)',
  '![x](data:image/png;base64,AAAA)',
  '<svg onload=alert(1)><script>1</script></svg>',
  '<svg><image href="https://evil.example/x.png"/></svg>',
  '<iframe src="https://evil.example"></iframe>',
  '<object data="x"></object><embed src="x">',
  '<video poster="https://evil.example/p.png" src="https://evil.example/v.mp4"></video>',
  '<audio src="https://evil.example/a"></audio>',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>* { background: url(https://evil.example/x) }</style>',
  '<div style="position:fixed;inset:0;background:url(https://evil.example/x)">x</div>',
  '<div class="tooltip" id="app">x</div>',
  '<form action="https://evil.example"><input name=x><button>Go</button></form>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](java\nscript:alert(1))',
  '[x](vbscript:msgbox(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](file:///etc/passwd)',
  '[x](wails://quit)',
  '<a href="https://ok.example" onclick="alert(1)" target="_top">x</a>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<details open ontoggle=alert(1)><summary>x</summary></details>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  '<p data-md="x" data-file="/etc/passwd" data-other="y">x</p>',
  '<x-custom onfocus=alert(1) autofocus tabindex=1>x</x-custom>',
  '<template><img src=x onerror=alert(1)></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<table background="https://evil.example/x.png"><tr><td background="https://evil.example/y.png">x</table>',
  '[ref]: javascript:alert(1)\n\n[x][ref]',
  '<javascript:alert(1)>',
  // Without "<" the growing text is not sanitised but only escaped.
  '[x](&#x6A;avascript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](https://ok.example/" onmouseover="alert(1))',
  '[x](https://ok.example/%22onmouseover=alert(1))',
  '[x](" onclick="alert(1))',
  '[x](https://ok.example \'" onmouseover="alert(1)\')',
  '![" onerror="alert(1)](x" onerror="alert(1))',
  '![x](https://ok.example/"onload="alert(1))',
  '# " onclick="alert(1)',
  '`" onclick="alert(1)`',
  '&lt;img src=x onerror=alert(1)&gt;',
  '[&lt;img src=x onerror=alert(1)&gt;](https://ok.example)',
  '| " onclick="x | b |\n|:--" onclick="x|--:|\n| 1 | 2 |',
  '[x](\u0001javascript:alert(1))',
  '[x](//evil.example/x)',
  'www.ok.example" onclick="alert(1)',
  '1" onclick="alert(1). x',
];

const forbiddenTags =
  'script,img,image,svg,math,iframe,object,embed,video,audio,source,link,style,form,input,button,meta,base,template,noscript';
const allowedAttributes = ['href', 'title', 'dir', 'start', 'align', 'colspan', 'rowspan', 'open', 'data-md', 'data-lang', 'data-file'];

describe('safety', () => {
  test.each(hostile)('%s', (text) => {
    for (const open of [false, true]) {
      for (const { block } of new MarkdownStream().update(text, open)) {
        // Code blocks are shown as text by their component.
        if (block.kind === 'code') continue;
        const root = document.createElement('div');
        root.innerHTML = block.html;
        expect(root.querySelector(forbiddenTags)).toBeNull();
        for (const element of root.querySelectorAll('*')) {
          for (const { name, value } of element.attributes) {
            expect(allowedAttributes).toContain(name);
            if (name === 'href') expect(value).toMatch(/^(https?:\/\/|mailto:|#$)/);
          }
        }
      }
    }
  });

  test('the language of a fence can carry nothing', () => {
    expect(html('```py"><img src=x>\nx\n```')).toContain('lang="py"');
    expect(html('1. item\n\n   ```js"onload=x\n   code\n   ```')).toContain('data-lang="js"');
  });

  test('harmless HTML stays', () => {
    expect(html('Press <kbd>Ctrl</kbd> and H<sub>2</sub>O')).toContain('<kbd>Ctrl</kbd>');
    expect(sanitise('<details><summary>More</summary>text</details>')).toContain('<summary>More</summary>');
  });
});

describe('rendering', () => {
  test('links to the web keep their address, links to files name the file', () => {
    expect(html('[a](https://x.example/y?z=1)')).toContain('<a href="https://x.example/y?z=1">a</a>');
    expect(html('[a](src/main.go#L10)')).toContain('data-file="src/main.go"');
    expect(html('[a](./a%20b.txt)')).toContain('data-file="./a b.txt"');
    expect(html('[a](#top)')).not.toContain('href');
    expect(html('https://x.example')).toContain('<a href="https://x.example">');
  });

  test('images become links to what they would have loaded', () => {
    expect(html('![chart](https://x.example/c.png)')).toContain('<a href="https://x.example/c.png">chart</a>');
  });

  test('code is told apart from text, with its language', () => {
    const [token] = lex('```Go title="x"\nfunc main() {}\n```');
    expect(token && renderBlock(token, true)).toEqual({ kind: 'code', code: 'func main() {}', lang: 'go', closed: true });
    const [open] = lex('```go\nfunc');
    expect(open && renderBlock(open, true)).toMatchObject({ closed: false });
    expect(open && renderBlock(open, false)).toMatchObject({ closed: true });
  });

  test('each block finds its own direction', () => {
    expect(html('שלום\n\nhello')).toBe('<p dir="auto">שלום</p><p dir="auto">hello</p>');
    // Text in children with a direction of their own would not count.
    expect(html('> שלום\n>\n> - a')).toBe('<blockquote dir="auto"><p>שלום</p><ul><li>a</li></ul></blockquote>');
    expect(html('2. שלום\n\n   more')).toBe('<ol start="2" dir="auto"><li><p>שלום</p><p>more</p></li></ol>');
  });

  test('tasks and tables', () => {
    expect(html('- [x] done\n- [ ] open')).toContain('☑');
    expect(html('| a | b |\n|---|--:|\n| 1 | 2 |')).toContain('<th dir="auto" align="right">b</th>');
  });
});

describe('streaming', () => {
  const document_ = [
    '# Title with `code`',
    '',
    'A paragraph with **bold**, *emphasis*, a [link](https://x.example) and `code`.',
    '',
    '- one',
    '- two',
    '',
    '- three after an empty line',
    '',
    '```ts',
    'const a = 1;',
    '',
    '# not a heading',
    '```',
    '',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '',
    '> quoted',
    '',
    '1. first',
    '',
    '   inner paragraph',
    '2. second',
    '',
    'The end.',
  ].join('\n');

  test('at every length the settled start equals the whole', () => {
    const stream = new MarkdownStream();
    for (let n = 1; n <= document_.length; n++) stream.update(document_.slice(0, n), true);
    const streamed = stream.update(document_, false).map((d) => d.block);
    expect(streamed).toEqual(new MarkdownStream().update(document_, false).map((d) => d.block));
  });

  test('blocks before the end stay the same objects', () => {
    const stream = new MarkdownStream();
    const before = stream.update('one\n\ntwo\n\nthree\n\nfo', true);
    const after = stream.update('one\n\ntwo\n\nthree\n\nfour', true);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    after.slice(0, 3).forEach((drawn, i) => expect(drawn).toBe(before[i]));
  });

  test('the written text changes only what differs', () => {
    const stream = new MarkdownStream();
    const before = stream.update('one\n\ntwo **bo', true);
    const after = stream.update('one\n\ntwo **bold**', false);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  test('a link whose address comes later is one in the end', () => {
    const stream = new MarkdownStream();
    const text = 'see [here][1]\n\nmore\n\nand more\n\n[1]: https://x.example';
    stream.update(text.slice(0, 30), true);
    stream.update(text, true);
    const [first] = stream.update(text, false);
    expect(first?.block).toEqual({ kind: 'html', html: '<p dir="auto">see <a href="https://x.example">here</a></p>' });
  });

  test('another text starts anew', () => {
    const stream = new MarkdownStream();
    stream.update('# one\n\ntwo\n\nthree', true);
    expect(stream.update('other', true).map((d) => d.block)).toEqual([{ kind: 'html', html: '<p dir="auto">other</p>' }]);
  });

  test('half-made markup never shows its marks', () => {
    const shown = (text: string) => {
      const root = document.createElement('div');
      root.innerHTML = new MarkdownStream()
        .update(text, true)
        .map(({ block }) => (block.kind === 'html' ? block.html : ''))
        .join('');
      return root.textContent;
    };
    const line = 'see **bold text** and `code span` and [the link](https://x.example) and *more* end';
    for (let n = 1; n <= line.length; n++) {
      const text = shown(line.slice(0, n)) ?? '';
      expect(text, line.slice(0, n)).not.toMatch(/[*`]|\]\(|https/);
    }
  });
});

describe('settleTail', () => {
  test('markers alone on the last line wait', () => {
    for (const mark of ['-', '---', '#', '##', '1', '1.', '*', '``', '>', '|', '===', '- [ ]', '- [']) {
      expect(settleTail(`text\n${mark}`), mark).toBe('text\n');
    }
    expect(settleTail('text\n- a')).toBe('text\n- a');
    expect(settleTail('text\n2026 was')).toBe('text\n2026 was');
  });

  test('inside a fence nothing is touched', () => {
    expect(settleTail('```\n**a')).toBe('```\n**a');
    expect(settleTail('```\n-')).toBe('```\n-');
    expect(settleTail('- item\n  ```\n  -')).toBe('- item\n  ```\n  -');
  });

  test('fences', () => {
    expect(inFence('```\nx')).toBe(true);
    expect(inFence('```\nx\n```')).toBe(false);
    expect(inFence('````\n```\nx')).toBe(true);
    expect(inFence('```\nx\n~~~')).toBe(true);
    expect(inFence('`` ` ``')).toBe(false);
  });
});

test('closeInline', () => {
  expect(closeInline('a **b')).toBe('a **b**');
  expect(closeInline('a **')).toBe('a ');
  expect(closeInline('a **b*')).toBe('a **b**');
  expect(closeInline('a ***b')).toBe('a ***b***');
  expect(closeInline('a **b *c')).toBe('a **b *c***');
  expect(closeInline('a **b** c')).toBe('a **b** c');
  expect(closeInline('2 * 3 and snake_case_name')).toBe('2 * 3 and snake_case_name');
  expect(closeInline('a `b *c')).toBe('a `b *c`');
  expect(closeInline('a ``b`')).toBe('a ``b``');
  expect(closeInline('\\*not')).toBe('\\*not');
  expect(closeInline('~~gone')).toBe('~~gone~~');
  expect(closeInline('[text](https://exa')).toBe('text');
  expect(closeInline('[1] is a note')).toBe('[1] is a note');
});
