import MiniSearch from "minisearch"

/** One heading of the documentation and the text below it, as `scripts/build-docs.ts` writes them to `search.json`. */
interface Section {
  readonly id: number
  readonly url: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

const MAX_RESULTS = 12
const root = document.documentElement.dataset.root ?? "./"
const field = document.querySelector<HTMLInputElement>("#search")
const list = document.querySelector<HTMLOListElement>("#results")

const isLong = (term: string) => term.length > 3

/** A name such as `PAWL_PORT` is one word. */
const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== "")

/** Fetched when the field is used for the first time. */
let index: Promise<MiniSearch<Section>> | undefined

async function load(): Promise<MiniSearch<Section>> {
  const sections = (await (await fetch(`${root}search.json`)).json()) as Section[]
  const search = new MiniSearch<Section>({
    fields: ["heading", "page", "text"],
    tokenize: (text) => wordsOf(text).flatMap((word) => (word.includes("_") ? [word, ...word.split("_")] : [word])),
    storeFields: ["url", "page", "heading", "text"],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      prefix: isLong,
      fuzzy: (term) => isLong(term) && 0.15,
      combineWith: "AND",
    },
  })
  search.addAll(sections)
  return search
}

async function show(query: string): Promise<void> {
  if (!list || !field) return
  list.hidden = query.trim() === ""
  if (list.hidden) return
  const found = (await (index ??= load())).search(query).slice(0, MAX_RESULTS) as unknown as Section[]
  if (query !== field.value) return // A later key press has its own result.
  list.replaceChildren(...(found.length > 0 ? found.map(toItem) : [item("Nothing found. Try fewer or other words.")]))
}

function toItem({ url, page, heading, text }: Section): HTMLLIElement {
  const link = document.createElement("a")
  link.href = root + url
  const title = document.createElement("b")
  title.textContent = heading === page ? page : `${page}: ${heading}`
  const start = document.createElement("span")
  start.textContent = text.slice(0, 120)
  link.append(title, start)
  const entry = document.createElement("li")
  entry.append(link)
  return entry
}

function item(text: string): HTMLLIElement {
  const entry = document.createElement("li")
  entry.textContent = text
  return entry
}

field?.addEventListener("input", () => void show(field.value))
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key === "/" && !isTyping) {
    event.preventDefault()
    field?.focus()
  }
  if (event.key === "Escape" && list) list.hidden = true
  if (event.key === "Enter" && event.target === field) list?.querySelector("a")?.click()
})
