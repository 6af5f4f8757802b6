/** Texts that are slow to parse: an opening without an end, or an end without an opening, again and again. */

/** One piece of a text that is repeated up to a length. */
export const repeated = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

/**
 * Pieces for a reply that is drawn as markdown, each of a length: the parsers of the page and the terminal, and ours,
 * have been slow on them.
 */
export const slowMarkdown = (length: number): [name: string, text: string][] => [
  ...MARKDOWN.map((piece): [string, string] => [JSON.stringify(piece), repeated(piece, length)]),
  ["runs of ticks, each longer", joined(length, (at) => `${"`".repeat(at)} `)],
  ["addresses, each with its name", joined(length, (at) => `[a${at}]: b\n\n`)],
  ["lists within lists", joined(length, (at) => `${"  ".repeat(at)}- a\n`)],
  ["code that ends with its list", `- a\n\n  \`\`\`\n\n${repeated("*_", length - 12)}`],
  ["code within HTML", `<div>\n\`\`\`\n\n${repeated("[", length - 11)}`],
]

const MARKDOWN = [
  ...[
    "[\r",
    "[^[",
    "]",
    "![",
    "[a](",
    "[^a] ",
    "*_",
    "**a*",
    "_a",
    "*[",
    "`a",
    "<!--",
    "a|b\n-|-\n",
    ">",
    "1. ",
    "2. *\n",
  ],
  ...["1. 1. a\n", "- a\n", "a\n\n", "a\n==\n", "```\n", "a.", "(www.a", "$a ", "\u0000"],
]

function joined(length: number, piece: (at: number) => string): string {
  const pieces: string[] = []
  for (let at = 1, all = 0; all < length; at++) {
    const next = piece(at)
    pieces.push(next)
    all += next.length
  }
  return pieces.join("").slice(0, length)
}
