const FENCE = /^[ \t>]{0,20}(?:`{3}|~{3}).*$/gm
/** What begins a line of markdown and is no word of it: headings, quotes, items, rules, the line below a table's head. */
const SIGNS = /^[ \t]{0,20}(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+)+|^[ \t]{0,20}[-=*_|: \t]{3,200}$/gm
const LINK = /!?\[([^\]\n]{0,500})\]\([^)\n]{0,1000}\)/g
const EMPHASIS = /(?<![\w*_\\])([*_]{1,3})(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*_])/g
/** More is in no preview, and the patterns above look ahead at every sign. */
const MAX_READ = 10_000

/** The words of a markdown text, for a few lines of preview: its signs gone, its lines joined. Not for anything but to look at. */
export function toProse(text: string): string {
  return text
    .slice(0, MAX_READ)
    .replaceAll(FENCE, "")
    .replaceAll(SIGNS, "")
    .replaceAll(LINK, "$1")
    .replaceAll(EMPHASIS, "$2")
    .replaceAll(/`([^`\n]{1,500})`/g, "$1")
    .replaceAll(/(?<![ \t])[ \t]*\|[ \t]*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
}
