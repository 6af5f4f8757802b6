/** Placeholders of programs for a missing author or title. */
const NO_TITLE =
  /^(?:(?:untitled|unbenannt|sans titre|sin título|無題|无标题|no title|title|titel|document|dokument|doc|presentation|slide|book|template|article|main|paper|manuscript|draft|default|print|scan|image|page|microsoft word|powerpoint presentation|new page|home)(?: ?document)?[\s_.-]{0,2}\d{0,4}|[^\p{L}]{0,40})$/iu
const MADE_BY =
  /^(?:microsoft (?:word|powerpoint|excel|office \w+) - |pii: ?s\d|doi: ?10\.|https?:\/\/|file:\/\/|[a-z]:[\\/]|\/\w)/i
const FILE_NAME = /\.(?:docx?|pdf|tex|dvi|e?ps|rtf|odt|pptx?|xlsx?|indd|qxd|wpd|pages|tmp|tiff?|jpe?g|png)$/i

const NOBODY = new Set(
  `anonymous anonym anonyme author authors user users admin administrator root owner unknown none null default guest test
  name me pc hp dell lenovo acer asus windows microsoft apple ubuntu debian office student unspecified author(s) n/a na`.split(
    /\s+/,
  ),
)

/** True if a person would give a document this title. Names of files and defaults of programs are not titles. */
export function isPlausibleTitle(text: string): boolean {
  const title = text.trim()
  return title.length > 1 && !NO_TITLE.test(title) && !MADE_BY.test(title) && !FILE_NAME.test(title)
}

/** True if it is a person's name and not an account. */
export function isAuthor(text: string): boolean {
  const name = text.trim().toLowerCase()
  if (!/\p{L}/u.test(name) || name.startsWith("anonymous ") || name.startsWith("microsoft ")) return false
  // An account may have a number: user1.
  return !NOBODY.has(name) && !NOBODY.has(/^(\p{L}+)[\s\d_.-]*$/u.exec(name)?.[1] ?? "")
}
