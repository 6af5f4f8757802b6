/**
 * Builds the documentation as static files: `npm run docs -- [FOLDER] [--if-stale]`, into dist/docs unless a folder is named.
 * Every page of docs/ and the project's own pages become HTML, the same text as Markdown, an index for the search, and
 * llms.txt. Links to a page, file or heading that does not exist are reported.
 */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, posix, resolve } from "node:path"
import type { RendererObject } from "marked"
import manifest from "../package.json" with { type: "json" }
import { toReferencePage } from "../core/server/routes/docs.ts"
import { compress } from "./compress.ts"

const root = join(import.meta.dirname, "..")
const MARK = ".sources"
const PROJECT = [
  "README.md",
  "ARCHITECTURE.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  "RELEASING.md",
  "CHANGELOG.md",
]
/** The folders of docs/, its own pages, and the pages of the project. */
const GROUPS = ["guide", "recipes", "reference", "about", "decisions", "project"]
const FILES_URL = `${manifest.homepage.replace(/#.*/, "")}/blob/main/`

interface Page {
  /** Its path in the repository: `docs/guide/page.md`. */
  readonly source: string
  /** Its path on the site without an ending: `guide/page`. */
  readonly path: string
  readonly title: string
  readonly markdown: string
}

interface Section {
  readonly url: string
  readonly page: string
  readonly heading: string
  text: string
}

interface DocsOptions {
  readonly folder?: string
  /** Does nothing if the folder was built from the same sources. */
  readonly ifStale?: boolean
  /** Also writes compressed files, which takes seconds. */
  readonly isCompressed?: boolean
}

/** Returns the problems of links. */
export async function buildDocs(options: DocsOptions = {}): Promise<string[]> {
  const { folder = join(root, "dist", "docs"), ifStale = false, isCompressed = false } = options
  const pages = await readPages()
  const problems: string[] = []
  const mark = await markOf(pages)
  if (ifStale && (await readFile(join(folder, MARK), "utf8").catch(() => "")) === mark) return problems
  // An installation without development dependencies keeps the documentation it was published with.
  const [marked, rolldown] = await Promise.all([import("marked"), import("rolldown")]).catch(() => [])
  if (!marked || !rolldown) return problems
  const making = `${folder}-${process.pid}`
  await mkdir(making, { recursive: true })
  for (const page of pages) {
    await write(join(making, `${page.path}.html`), renderPage(page, { pages, problems }, marked))
    await write(join(making, `${page.path}.md`), page.markdown)
  }
  const sections = pages.flatMap((page) => sectionsOf(page, marked))
  await write(join(making, "search.json"), JSON.stringify(sections.map((section, id) => ({ id, ...section }))))
  await write(join(making, "api.html"), toReferencePage(manifest.version))
  await write(join(making, "llms.txt"), toLlmsText(pages))
  await cp(join(root, "docs", "images"), join(making, "images"), { recursive: true })
  await cp(join(root, "docs", "reference", "openapi.json"), join(making, "reference", "openapi.json"))
  await cp(join(root, "apps", "web", "docs", "site.css"), join(making, "site.css"))
  await rolldown.build({
    input: join(root, "apps", "web", "docs", "search.ts"),
    output: { file: join(making, "search.js"), minify: true },
    logLevel: "warn",
  })
  if (isCompressed) await compress(making)
  await write(join(making, MARK), mark)
  await rm(folder, { recursive: true, force: true })
  await rename(making, folder)
  return problems
}

interface Site {
  readonly pages: readonly Page[]
  readonly problems: string[]
}

/** Writes the pages as Markdown, with llms.txt: the documentation of a package that serves no pages. */
export async function writeDocsAsText(folder: string): Promise<void> {
  // A package has its declarations, which say the same as the printed surface.
  const pages = (await readPages()).filter(({ source }) => source !== "docs/reference/surface.md")
  for (const page of pages) await write(join(folder, `${page.path}.md`), page.markdown)
  await write(join(folder, "llms.txt"), toLlmsText(pages))
}

/** All pages, in the order in which docs/README.md links to them. */
async function readPages(): Promise<Page[]> {
  const names = await readdir(join(root, "docs"), { recursive: true })
  const sources = [
    ...names.filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll("\\", "/")}`),
    ...PROJECT,
  ]
  const pages = await Promise.all(
    sources.map(async (source) => {
      const markdown = await readFile(join(root, source), "utf8")
      return { source, path: pathOf(source), title: /^# (.+)$/m.exec(markdown)?.[1] ?? source, markdown }
    }),
  )
  const index = pages.find(({ source }) => source === "docs/README.md")?.markdown ?? ""
  const locationOf = ({ source }: Page) => {
    const at = index.indexOf(`(${posix.relative("docs", source)})`)
    return at < 0 ? Number.POSITIVE_INFINITY : at
  }
  return pages.sort((a, b) => locationOf(a) - locationOf(b) || (a.source < b.source ? -1 : 1))
}

function pathOf(source: string): string {
  if (!source.startsWith("docs/")) return `project/${basename(source, ".md").toLowerCase()}`
  const path = source.slice("docs/".length, -".md".length).replace(/README$/, "index")
  return path === "index" || path.includes("/") ? path : `about/${path}`
}

function renderPage(page: Page, site: Site, { Marked }: typeof import("marked")): string {
  const anchors = new Map<string, number>()
  const renderer: RendererObject = {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text, anchors)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      return `<a href="${escape(linkTo(href, page, site))}">${this.parser.parseInline(tokens)}</a>`
    },
    image({ href, text }) {
      return `<img src="${escape(linkTo(href, page, site))}" alt="${escape(text)}">`
    },
    html({ text }) {
      return text.startsWith("<!--") ? "" : escape(text)
    },
  }
  // Elements that scroll sideways are reachable with the keyboard.
  const html = new Marked({ renderer })
    .parse(page.markdown, { async: false })
    .replaceAll(/<(pre|table)>/g, '<$1 tabindex="0">')
  const top = "../".repeat(page.path.split("/").length - 1) || "./"
  return toDocument({ title: page.title, top, nav: toNavigation(page, site.pages, top), html })
}

/** The entries of the search: each heading of a page and the text below it. */
function sectionsOf(page: Page, { Marked }: typeof import("marked")): Section[] {
  const anchors = new Map<string, number>()
  const sections: Section[] = [{ url: `${page.path}.html`, page: page.title, heading: page.title, text: "" }]
  for (const token of new Marked().lexer(page.markdown)) {
    if (token.type !== "heading") sections.at(-1)!.text += ` ${plain(token.raw)}`
    else {
      const url = `${page.path}.html#${slugOf(token.text, anchors)}`
      if (token.depth > 1) sections.push({ url, page: page.title, heading: plain(token.text), text: "" })
    }
  }
  return sections
}

/** The address of a link on the site. Files that are not pages are linked on GitHub. */
function linkTo(href: string, page: Page, { pages, problems }: Site): string {
  if (/^[a-z]+:/.test(href)) return href
  if (href.startsWith("../../security/")) return href // an address of the repository on GitHub
  const [path = "", hash] = href.split("#")
  const target = path === "" ? page.source : posix.join(posix.dirname(page.source), path)
  const found = pages.find(({ source }) => source === target || source === `${target.replace(/\/$/, "")}/README.md`)
  if (!found) {
    if (!existsSync(join(root, target))) problems.push(`${page.source} links to ${href}, which does not exist.`)
    const isCopied = /^docs\/(images\/|reference\/openapi\.json)/.test(target)
    return isCopied ? posix.relative(posix.dirname(page.path), target.slice("docs/".length)) : FILES_URL + target
  }
  if (hash !== undefined && !anchorsOf(found.markdown).has(hash))
    problems.push(`${page.source} links to ${href}, but ${found.source} has no such heading.`)
  const address = posix.relative(posix.dirname(page.path), `${found.path}.html`)
  return hash === undefined ? address : `${address}#${hash}`
}

/** The anchors of a page's headings, with GitHub's rules. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const used = new Map<string, number>()
  const text = markdown.replaceAll(/^```[^]*?^```/gm, "")
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => slugOf(heading!, used)))
}

function slugOf(heading: string, used: Map<string, number>): string {
  const slug = plain(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")
  const count = used.get(slug) ?? 0
  used.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}

/** Text without Markdown syntax. */
function plain(markdown: string): string {
  const text = markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[*|`]/g, "")
  return text.replaceAll(/\s+/g, " ").trim()
}

function toNavigation(page: Page, pages: readonly Page[], top: string): string {
  const groups = GROUPS.map((group) => {
    const items = pages.filter(({ path }) => path.startsWith(`${group}/`))
    const current = page.path.startsWith(`${group}/`)
    const links = items.map(({ path, title }) => {
      const mark = path === page.path ? ' aria-current="page"' : ""
      return `<li><a href="${top}${path}.html"${mark}>${escape(plain(title))}</a></li>`
    })
    const isOpen = current || (page.path === "index" && group === "guide") ? " open" : ""
    if (group === "reference") links.push(`<li><a href="${top}api.html">HTTP API</a></li>`)
    return `<details${isOpen}><summary>${group[0]!.toUpperCase()}${group.slice(1)}</summary><ul>${links.join("")}</ul></details>`
  })
  return groups.join("\n")
}

interface Document {
  readonly title: string
  readonly top: string
  readonly nav: string
  readonly html: string
}

const toDocument = ({ title, top, nav, html }: Document) => `<!doctype html>
<html lang="en" data-root="${top}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(plain(title))} · Pawl</title>
<link rel="stylesheet" href="${top}site.css">
<script type="module" src="${top}search.js"></script>
</head>
<body>
<header><a href="${top}index.html">Pawl ${manifest.version}</a><div class="search"><input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off"><ol id="results" hidden></ol></div></header>
<div class="columns">
<nav aria-label="Documentation">
${nav}
</nav>
<main>
${html}</main>
</div>
</body>
</html>
`

/** An index for language models: https://llmstxt.org */
function toLlmsText(pages: readonly Page[]): string {
  const groups = GROUPS.map((group) => {
    const lines = pages
      .filter(({ path }) => path.startsWith(`${group}/`))
      .map(({ path, title }) => `- [${plain(title)}](${path}.md)`)
    return `## ${group[0]!.toUpperCase()}${group.slice(1)}\n\n${lines.join("\n")}\n`
  })
  return `# Pawl ${manifest.version}\n\n> ${manifest.description}\n\n${groups.join("\n")}`
}

async function markOf(pages: readonly Page[]): Promise<string> {
  const hash = createHash("sha256").update(manifest.version)
  for (const { source, markdown } of pages) hash.update(`${source}\n`).update(markdown)
  for (const file of ["scripts/build-docs.ts", "apps/web/docs/search.ts", "apps/web/docs/site.css"])
    hash.update(await readFile(join(root, file)))
  return hash.digest("hex")
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }
const escape = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign]!)

if (import.meta.main) {
  const [folder] = process.argv.slice(2).filter((word) => !word.startsWith("--"))
  const ifStale = process.argv.includes("--if-stale")
  const problems = await buildDocs({ ifStale, ...(folder ? { folder: resolve(folder) } : {}) })
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
