/** BERT's tokenizer (uncased): splits text into word pieces from a list of 30,522. */
export class Tokenizer {
  readonly #vocabulary: ReadonlyMap<string, number>
  readonly #maxTokens: number

  /** `file` is the model's tokenizer.json. */
  constructor(file: string, maxTokens: number) {
    const { model } = JSON.parse(file) as { model: { vocab: Record<string, number> } }
    this.#vocabulary = new Map(Object.entries(model.vocab))
    this.#maxTokens = maxTokens
  }

  /** With start and end tokens, truncated to the maximum. */
  tokensOf(text: string): number[] {
    const most = this.#maxTokens - 2
    const tokens: number[] = []
    for (const part of text.split(SPECIAL)) {
      if (tokens.length >= most) break
      const special = SPECIAL_TOKENS.get(part)
      if (special !== undefined) tokens.push(special)
      else for (const word of wordsOf(part)) if (tokens.length < most) this.#pieces(word, tokens)
    }
    return [BEGIN, ...tokens.slice(0, most), END]
  }

  /** The longest known prefix, then the longest of the rest. */
  #pieces(word: string, tokens: number[]): void {
    const characters = [...word]
    const before = tokens.length
    const isTooLong = characters.length > MAX_CHARACTERS
    for (let start = 0; start < characters.length;) {
      let end = isTooLong ? start : characters.length
      let token: number | undefined
      for (; end > start && token === undefined; end--)
        token = this.#vocabulary.get((start > 0 ? "##" : "") + characters.slice(start, end).join(""))
      if (token === undefined) {
        tokens.length = before
        tokens.push(UNKNOWN)
        return
      }
      tokens.push(token)
      start = end + 1
    }
  }
}

const UNKNOWN = 100
const BEGIN = 101
const END = 102
const MAX_CHARACTERS = 100
/** These names are read as special tokens, as in the model's own tokenizer. */
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/
const SPECIAL_TOKENS = new Map([
  ["[PAD]", 0],
  ["[UNK]", UNKNOWN],
  ["[CLS]", BEGIN],
  ["[SEP]", END],
  ["[MASK]", 103],
])

/** Lower case without accents; signs and Chinese characters are separate words. */
function wordsOf(text: string): string[] {
  const clean = text
    .replaceAll(/[\t\n\r\p{Zs}]/gu, " ")
    .replaceAll(/[\p{C}\ufffd]/gu, "")
    .replaceAll(HAN, " $& ")
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
  return clean.match(WORDS) ?? []
}

const HAN =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu
/** One sign, or the text between signs and spaces. */
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu
