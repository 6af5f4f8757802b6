import { describe, expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { cite } from "./cite.ts"
import { oneIn } from "../../../test/support/sizes.ts"
import { countWork } from "../../../test/support/worked.ts"

const sources = new Map<string, Source>(
  [
    {
      id: "psg_1",
      title: "An image is worth sixteen words",
      passage:
        "# Method\n\nVision transformers split an image into patches. Each patch is a “token”, and the tokens are read in order.\n\n- Attention relates all patches.\n- No convolution is needed.\n\nRun `git clone the repository` first.",
    },
    {
      id: "psg_2",
      title: "DETR",
      passage: "Detection is set prediction. 検出は集合の予測であり、順序はないのである。",
    },
  ].map((source) => [source.id, source]),
)
const problems = (text: string) => cite(text, sources).map(({ marker, problem }) => [marker, problem ?? "bound"])
const FLAGGED = [["psg_1", "quote_not_found"]]
const BOUND = [["psg_1", "bound"]]

describe("a block quote that is made up is flagged", () => {
  test.each([
    ["with its marker", "> Transformers never fail at all. [psg_1]"],
    ["without a space", ">Transformers never fail at all [psg_1]"],
    ["over lines", "> Transformers never\n> fail at all. [psg_1]"],
    ["with its marker on the next line", "> Transformers never fail at all.\n[psg_1]"],
    ["in a paragraph of its own", "> Transformers never fail at all.\n\n[psg_1]"],
    ["behind a dash", "> Transformers never fail at all.\n\n— An image is worth sixteen words [psg_1]"],
    ["inside, behind a dash", "> Transformers never fail at all.\n> — Dosovitskiy et al., 2020 [psg_1]"],
    ["on the same line", "> Transformers never fail at all — Dosovitskiy et al., 2020 [psg_1]"],
    ["in a quote of a quote", "> > Transformers never fail at all. [psg_1]"],
    ["as an item of a list", "> - Attention relates all patches.\n> - Transformers never fail at all. [psg_1]"],
    ["as a second paragraph", "> Each patch is a “token”.\n>\n> Transformers never fail at all. [psg_1]"],
    ["as a first paragraph", "> Transformers never fail at all.\n>\n> No convolution is needed. [psg_1]"],
    ["behind its marker", "> No convolution is needed. [psg_1] Transformers never fail at all."],
    ["where words lead to it", "As [psg_1] puts it:\n> Transformers never fail at all."],
    ["also across a blank line", "As [psg_1] puts it:\n\n> Transformers never fail at all."],
    ["with emphasis", "> **Transformers never fail at all.** [psg_1]"],
    ["with code in it", "> Transformers never `fail` at all. [psg_1]"],
    ["with one word changed", "> Vision transformers split an image into many patches. [psg_1]"],
    [
      "with words before what stands there",
      "> It is well known that vision transformers split an image into patches. [psg_1]",
    ],
    [
      "with a true quote inside",
      "> Everybody who has ever looked at it knows that “split an image into patches” is wrong. [psg_1]",
    ],
    ["with words where the author stands", "> No convolution is needed. — and they never fail at anything [psg_1]"],
    ["beside an aside", "> Note: this is mine.\n\n> Transformers never fail at all. [psg_1]"],
    ["with a line that has no sign", "> Vision transformers split an image\ninto pieces of cheese. [psg_1]"],
    ["also behind a full stop", "As [psg_1] puts it:\n\n> No convolution is needed.\nTransformers never fail at all."],
    ["behind a word with a colon", "> No convolution is needed.\nThus: transformers never fail at all. [psg_1]"],
    ["where its author stands", "> No convolution is needed.\n— and transformers never fail at all. [psg_1]"],
    ["as an item", "- > Transformers never fail at all. [psg_1]"],
    ["as an item with a number", "1. > Transformers never fail at all. [psg_1]"],
    ["as an item that words lead to", "As [psg_1] puts it:\n\n- > Transformers never fail at all."],
    ["as one item of two", "- > Transformers never fail at all.\n- > No convolution is needed. [psg_1]"],
    ["with a label of one's own", "> Note: transformers never fail at all. [psg_1]"],
    ["with a label in bold", "> **Important:** transformers never fail at all. [psg_1]"],
    ["with a label of the other kind", "> [!WARNING]\n> Transformers never fail at all [psg_1]."],
    ["with a label, above its marker", "> Note: transformers never fail at all.\n[psg_1]"],
    ["in capitals where the author stands", "> No convolution is needed. — And It Was Invented By Cats [psg_1]"],
    ["in capitals behind a dash alone", "> — Transformers Never Fail At All [psg_1]"],
    ["in a list of mine", "- one\n\n  > Transformers never fail at all. [psg_1]"],
  ])("%s", (_, text) => {
    expect(problems(text)).toEqual(FLAGGED)
  })

  test("and only for the source it is given to", () => {
    expect(problems("> No convolution is needed. [psg_1] Detection never fails at all. [psg_2]")).toEqual([
      ["psg_1", "bound"],
      ["psg_2", "quote_not_found"],
    ])
    expect(problems("> Transformers never fail at all. [psg_1]\n\nDetection is a set [psg_2].")).toEqual([
      ["psg_1", "quote_not_found"],
      ["psg_2", "bound"],
    ])
  })
})

describe("a block quote belongs to a marker or to none:", () => {
  test.each([
    ["where it stands in its passage", "> Vision transformers split an image into patches. [psg_1]"],
    ["over lines", "> Vision transformers split\n> an image into patches. [psg_1]"],
    ["over paragraphs", "> Vision transformers split an image into patches.\n>\n> - No convolution is needed. [psg_1]"],
    ["with words left out", "> Vision transformers split an image … the tokens are read in order. [psg_1]"],
    ["with emphasis", "> Vision transformers **split an image** into patches. [psg_1]"],
    ["with the passage's own marks", "> Each patch is a “token”, and the tokens are read in order. [psg_1]"],
    ["with its heading", "> # Method\n> Vision transformers split an image into patches. [psg_1]"],
    ["with its author", "> No convolution is needed. — Dosovitskiy et al., 2020 [psg_1]"],
    ["with its title", "> No convolution is needed.\n>\n> — an image is worth sixteen words, p. 3 [psg_1]"],
    ["in marks of its own", "> “No convolution is needed.” [psg_1]"],
    ["with an introduction", "> As the authors themselves say: “No convolution is needed.” [psg_1]"],
    ["where words lead to it", "As [psg_1] puts it:\n\n> No convolution is needed."],
    ["with a label of one's own", "> **Note:** No convolution is needed. [psg_1]"],
    ["with a label of the other kind", "> [!WARNING]\n> No convolution is needed. [psg_1]"],
    ["when it is a note of one's own", "They split images [psg_1].\n\n> **Note:** transformers are not the only way."],
    ["with a line that has no sign", "> Vision transformers split\nan image into patches. [psg_1]"],
    ["above another line that names its source", "> No convolution is needed.\nSource: [psg_1]"],
    ["above one with the place in it", "> No convolution is needed.\n**Source:** the paper, page 3 [psg_1]"],
    ["above its author", "> No convolution is needed.\n— Dosovitskiy et al., 2020 [psg_1]"],
    ["above a list", "> Transformers never fail at all\n- They split images [psg_1]."],
    ["above a heading", "> Transformers never fail at all\n## They split images [psg_1]"],
    ["as an item", "- > No convolution is needed. [psg_1]"],
    ["with its authors and a year", "> No convolution is needed. — Alexey Dosovitskiy and Lucas Beyer, 2020 [psg_1]"],
    ["with its author alone in a paragraph", "> No convolution is needed.\n>\n> — Alexey Dosovitskiy [psg_1]"],
    ["in a block of code", "As it says [psg_1]:\n\n```\nVision transformers split\nan image into patches.\n```"],
    ["when it repeats the question", "> Do transformers ever fail at all?\n\nThey split images [psg_1]."],
    ["also right before the answer", "> Do transformers ever fail at all?\nThey split images [psg_1]."],
    ["also behind a sentence", "They split images [psg_1].\n\n> Do transformers ever fail at all?"],
    ["when it is a few letters", "> Method [psg_1]"],
  ])("%s", (_, text) => {
    expect(problems(text)).toEqual(BOUND)
  })

  test("each piece in the source that is named behind it", () => {
    expect(problems("> No convolution is needed. [psg_1] Detection is set prediction. [psg_2]")).toEqual([
      ["psg_1", "bound"],
      ["psg_2", "bound"],
    ])
    expect(problems("> No convolution is needed. [psg_1] [psg_2]")).toEqual([
      ["psg_1", "bound"],
      ["psg_2", "bound"],
    ])
  })

  test("and says where it stands", () => {
    const [citation] = cite("> Vision transformers split\n> an image into patches. [psg_1]", sources)
    const { start, end } = citation!.span!
    expect(sources.get("psg_1")!.passage.slice(start, end)).toBe("Vision transformers split an image into patches")
  })
})

describe("a block of code that is a made-up sentence is flagged", () => {
  test.each([
    ["where words lead to it", "As it says [psg_1]:\n\n```\nTransformers never fail at all.\n```"],
    ["without a blank line", "As it says [psg_1]:\n```text\nTransformers never fail at all.\n```\nThat is all."],
    ["between tildes", "As it says [psg_1]:\n\n~~~\nTransformers never fail at all.\n~~~"],
    ["with backticks between tildes", "As it says [psg_1]:\n\n~~~\nTransformers never ```\n fail at all.\n~~~"],
    ["that never ends", "As it says [psg_1]:\n\n```\nTransformers never fail at all."],
    ["with its marker behind it", "```\nTransformers never fail at all.\n```\n[psg_1]"],
    ["with its marker inside", "```\nTransformers never fail at all. [psg_1]\n```"],
    ["over paragraphs", "As it says [psg_1]:\n```\nNo convolution is needed.\n\nTransformers never fail at all.\n```"],
    ["in an item", "- As it says [psg_1]:\n  ```\n  Transformers never fail at all.\n  ```"],
  ])("%s", (_, text) => {
    expect(problems(text)).toEqual(FLAGGED)
  })

  test.each([
    ["where no source is named", "They split images [psg_1].\n\n```\nTransformers never fail at all.\n```"],
    ["before a sentence of its own", "```\nTransformers never fail at all.\n```\nThey split images [psg_1]."],
    ["when it is a program", "As in [psg_1]:\n\n~~~python\nfor patch in image:\n    tokens.append(embed(patch))\n~~~"],
    ["when it is settings", "As in [psg_1]:\n\n```\nhidden size layers\ndropout rate heads\nbatch size\n```"],
  ])("and not %s", (_, text) => {
    expect(problems(text)).toEqual(BOUND)
  })
})

describe("a sentence in the marks of code that is made up is flagged", () => {
  test.each([
    ["before its marker", "It says `transformers never fail at all` [psg_1]."],
    ["behind it", "As [psg_1] has it, `transformers never fail at all`."],
    ["behind the full stop", "It says `transformers never fail at all`. [psg_1]"],
    ["with two backticks", "It says ``transformers never fail at all`` [psg_1]."],
    ["with three", "It says ```transformers never fail at all``` [psg_1]."],
    ["over two lines", "It says `transformers never\nfail at all` [psg_1]."],
    ["with a name from a program", "It says `transformers never use self_attention in any layer` [psg_1]."],
    ["with numbers", "It says `accuracy rose by 12.5 % on all 3 tasks` [psg_1]."],
  ])("%s", (_, text) => {
    expect(problems(text)).toEqual(FLAGGED)
  })

  test("also where words have no spaces", () => {
    expect(problems("`検出は決して失敗しないのである` [psg_2]")).toEqual([["psg_2", "quote_not_found"]])
    expect(problems("`検出は集合の予測であり、順序はない` [psg_2]")).toEqual([["psg_2", "bound"]])
  })

  test("and bound where it stands there", () => {
    const [citation] = cite("It says `the tokens are read in order` [psg_1].", sources)
    expect(citation).toMatchObject({ source: "psg_1", quote: "the tokens are read in order" })
    expect(citation?.problem).toBeUndefined()
  })
})

test.each([
  "git commit -m fix the broken parser",
  "git clone the other repository",
  "npm run bench -- --workload w8",
  "pip install torch torchvision numpy pandas scipy",
  "python train.py --lr 0.1 --epochs 3 --data images",
  "SELECT name FROM patches WHERE size > 3 ORDER BY name",
  "select name from patches where size is not null",
  "CREATE TABLE patches (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
  "for (let i = 0; i < n; i++) sum += a[i]",
  "const x = await read(file, { start: 0 })",
  "from transformers import AutoModel, AutoTokenizer",
  "import numpy as np",
  "if x > 0 then y = x else y = 0 end",
  "for each in patches embed and add position do",
  "softmax(Q K^T / sqrt(d)) V",
  "p(x | y) = p(y | x) p(x) / p(y)",
  "x = Wx + b; y = max(0, x)",
  "patch_size, hidden_size, num_heads, mlp_ratio, dropout_rate",
  "nn.Linear nn.GELU nn.Linear nn.Dropout nn.LayerNorm",
  "/usr/local/lib/python3/site-packages",
  "ViT-B/16, ViT-L/16",
  '{ "model": "vit", "patches": 16 }',
  "self attention layer",
  "attention dropout rate hidden size layers",
  "batch size, learning rate, weight decay, warmup steps",
])("code is none: %s", (code) => {
  expect(problems(`It is run with \`${code}\` [psg_1].`)).toEqual(BOUND)
  expect(problems(`\`\`\`sh\n${code}\n\`\`\`\n[psg_1]`)).toEqual(BOUND)
})

test("a sentence formatted as code belongs to no marker if the surrounding sentence has none", () => {
  expect(problems("Type `transformers never fail at all` there. They split images [psg_1].")).toEqual(BOUND)
  expect(problems("They split images [psg_1]. Type `transformers never fail at all` there.")).toEqual(BOUND)
})

const long: readonly [what: string, text: string][] = [
  ["block quotes", "> twelve letters here\n".repeat(10_000)],
  ["block quotes with markers", "> twelve letters here [psg_1]\n".repeat(3_000)],
  ["one block quote with markers", `> ${"twelve letters here [psg_1] ".repeat(5_000)}`],
  ["block quotes and marks", `${'> "twelve letters" and more\n'.repeat(5_000)}[psg_1]`],
  ["signs of block quotes", `${"> ".repeat(50_000)}words [psg_1]`],
  ["backticks", `${"`".repeat(100_000)} [psg_1]`],
  ["backticks that pair with none", `${Array.from({ length: 300 }, (_, i) => "`".repeat(i + 1)).join("a ")} [psg_1]`],
  ["sentences in code", `${"`nobody has ever said so at all` ".repeat(3_000)}${"[psg_1] a ".repeat(3_000)}`],
  ["one long sentence in code", `\`${"nobody said so ".repeat(20_000)}\` [psg_1]`],
  ["backticks between words", `${"```x ".repeat(120_000)} [psg_1]`],
  ["markers without brackets", `> some words here that are long enough ${"psg_1, ".repeat(90_000)}`],
  ["lines without the sign of their block quote", `> words\n${"twelve letters here [psg_1]\n".repeat(10_000)}`],
  ["items that are block quotes", "- - 1. > twelve letters here [psg_1]\n".repeat(3_000)],
  ["blocks of sentences", "As [psg_1]:\n```\nThis is what nobody has said.\n```\n".repeat(3_000)],
  ["tildes", `${"~~~ ~~~\n".repeat(20_000)}${"~".repeat(100_000)} [psg_1]`],
  ["rules that are none", `> words\n${"- ".repeat(100_000)}x [psg_1]`],
  ["dashes in a block quote", `> ${"— a ".repeat(30_000)} [psg_1]`],
]
test.each(oneIn(3, long))("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  cite(text, sources)
  expect(worked()).toBeLessThan(10_000) // a search that restarts for each of them takes minutes
})
