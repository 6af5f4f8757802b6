/**
 * Finds words that our writing guide rules out: `npm run english` prints each finding with its line and word. Exceptions
 * are in `test/house/english.json`, each with its reason.
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSync, Visitor } from "rolldown/utils"
import { libraries, pawl } from "./entries.ts"

const root = join(import.meta.dirname, "..")

/** Words that hide who acts, or that only this project uses. */
const WORDS =
  /\b(?:whoever|whomever|whom|nobody|somebody|anybody|told|heard|brought|begun|beside|elsewhere|lazily|anew|insists|of which|broken off|put down|go(?:es|ing)? on|(?:is|was|are|were|be|been) said)\b/gi

/** Parts of exported names that a newcomer does not understand. */
const PARTS =
  /^(?:told|said|kept|asked|unasked|given|brought|brings|heard|reaches|insists|elsewhere|late|lazily|beside|begun|whoever|nobody|somebody)$/

/** A source that may export a name with one of these parts. */
const EXPORTED = new RegExp(`^export (?:\\{|.*(?:${PARTS.source.slice(4, -2)}))`, "im")

/** The start of a comment that has no subject, or a clause as its subject. */
const HEADLESS = /^(?:What|Of|Where|Not where|For whom|In which|Nothing) /

/** The folders of the code, each counted separately: all comments, exported names and titles of tests. */
const CODE = ["core", "client", "packs", "adapters", "apps", "labs", "bench", "scripts", "test"] as const

export type Area =
  | ("docs" | "strings" | "protocol" | "server" | "api-comments" | "api-names")
  | `code in ${(typeof CODE)[number]}`

export interface Finding {
  readonly file: string
  readonly line: number
  /** The whole line, or the name. */
  readonly text: string
  readonly word: string
}

interface Exception {
  readonly file: string
  /** Part of the line, or the whole name. */
  readonly text: string
  readonly because: string
}

export const readExceptions = (): readonly Exception[] =>
  JSON.parse(readFileSync(join(root, "test/house/english.json"), "utf8")) as Exception[]

export interface Report {
  readonly found: Readonly<Record<Area, readonly Finding[]>>
  /** Exceptions that are not needed any more. */
  readonly unused: readonly Exception[]
}

/** Generated from code, where their text is counted. */
const GENERATED = ["commands", "errors", "events", "routes", "settings", "surface"].map(
  (name) => `docs/reference/${name}.md`,
)

/** Reads the repository, about 2,500 files, in a few seconds. */
export function readEnglish(exceptions: readonly Exception[]): Report {
  const used = new Set<Exception>()
  const isFault = (finding: Finding) => {
    const exception = exceptions.find(({ file, text }) => finding.file === file && isAbout(finding, text))
    if (exception) used.add(exception)
    return !exception
  }
  const inStrings = (...patterns: string[]) => list(...patterns).flatMap((file) => findInStrings(file, read(file)))
  const all = {
    docs: list("*.md", ".github/**/*.md", "bench/*.md", "docs/**/*.md")
      .filter((file) => !GENERATED.includes(file))
      .flatMap((file) => findInPage(file, read(file))),
    strings: [
      ...inStrings("apps/**/*.{ts,tsx}", "labs/{crashtest,replay}/**/*.{ts,tsx}"),
      ...list("apps/web/strings/en/*.json").flatMap((file) => findInPage(file, read(file))),
    ],
    protocol: inStrings("core/protocol/**/*.ts"),
    server: inStrings(
      "core/!(protocol)/**/*.ts",
      "core/*.ts",
      "{client,packs,adapters}/**/*.ts",
      "labs/evaluate/**/*.ts",
    ),
    "api-comments": publishedFiles().flatMap((file) => findInComments(file, read(file))),
    "api-names": findInNames("docs/reference/surface.md", read("docs/reference/surface.md")),
    ...Object.fromEntries(CODE.map((folder) => [`code in ${folder}`, findInFolder(folder)])),
  }
  const found = Object.fromEntries(Object.entries(all).map(([area, findings]) => [area, findings.filter(isFault)]))
  return { found: found as Record<Area, Finding[]>, unused: exceptions.filter((exception) => !used.has(exception)) }
}

const findInFolder = (folder: string): Finding[] =>
  globSync(`${folder}/**/*.{ts,tsx,js}`, { cwd: root, exclude: ["**/node_modules", "**/dist", "test/fixtures"] })
    .sort()
    .flatMap((file) => findInCode(file.replaceAll("\\", "/"), read(file)))

/** An exception matches a whole name, or any part of a line. */
const isAbout = ({ text: found }: Finding, text: string) => (/\s/.test(found) ? found.includes(text) : found === text)

const read = (file: string) => readFileSync(join(root, file), "utf8")

const list = (...patterns: string[]) =>
  globSync(patterns, { cwd: root })
    .filter((file) => !/\.(?:test|fixture)\.tsx?$/.test(file))
    .sort()

/** The prose of a page, without code blocks and `code`. */
export function findInPage(file: string, page: string): Finding[] {
  const prose = page.replace(/^( *)(```+|~~~+)[^]*?^\1\2/gm, blank)
  return findWords(file, page, { text: withoutCode(prose), start: 0 })
}

const blank = (code: string) => code.replace(/[^\n]/g, " ")
const withoutCode = (prose: string) => prose.replace(/(`+)[^`]+\1/g, blank)

/** Texts for people: with a space, or with a capital at the start. SQL, module names and types are left out. */
export function findInStrings(file: string, source: string): Finding[] {
  const { program } = parseSync(file, source)
  const skipped = new Set<number>()
  const texts: Text[] = []
  const add = (text: string, start: number) => {
    if (!skipped.has(start) && /\s|^[A-Z]/.test(text.trim())) texts.push({ text, start })
  }
  new Visitor({
    ImportDeclaration: ({ source: module }) => void skipped.add(module.start),
    TSLiteralType: ({ literal }) => void skipped.add(literal.start),
    TaggedTemplateExpression: ({ quasi }) => void quasi.quasis.forEach(({ start }) => skipped.add(start)),
    Literal: ({ value, start }) => typeof value === "string" && add(value, start),
    TemplateElement: ({ value, start }) => add(value.cooked ?? value.raw, start),
    JSXText: ({ value, start }) => add(value, start),
  }).visit(program)
  return texts.flatMap((text) => findWords(file, source, text))
}

/** The doc comments of a file, without `code`. */
export function findInComments(file: string, source: string): Finding[] {
  return parseSync(file, source)
    .comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .flatMap(({ value, start }) => findWords(file, source, { text: withoutCode(value), start: start + 2 }))
}

/** All comments, without `code`, the exported names, and the titles of tests. */
export function findInCode(file: string, source: string): Finding[] {
  const parsed = parseSync(file, source)
  const { comments } = parsed
  const headless = comments.flatMap(({ value, start }) => {
    const text = value.replace(/^[\s*]+/, "")
    const [word] = HEADLESS.exec(text) ?? []
    return word ? [{ file, ...lineAt(source, start), word: word.trim().toLowerCase() }] : []
  })
  const names: Finding[] = []
  const addName = (name: string, start: number) => {
    const word = ruledOutPart(name)
    if (word) names.push({ file, line: lineAt(source, start).line, text: name, word })
  }
  const titles: Text[] = []
  const visitor = new Visitor({
    ExportNamedDeclaration({ declaration, specifiers }) {
      if (declaration?.type === "VariableDeclaration") {
        for (const { id } of declaration.declarations) if (id.type === "Identifier") addName(id.name, id.start)
      } else if (declaration && "id" in declaration && declaration.id?.type === "Identifier") {
        addName(declaration.id.name, declaration.id.start)
      }
      for (const { exported } of specifiers) if (exported.type === "Identifier") addName(exported.name, exported.start)
    },
    CallExpression({ callee, arguments: [title] }) {
      if (!/^(?:test|describe)\b/.test(source.slice(callee.start, callee.end))) return
      if (title?.type === "Literal" && typeof title.value === "string")
        titles.push({ text: title.value, start: title.start })
      if (title?.type === "TemplateLiteral") {
        titles.push(...title.quasis.map(({ value, start }) => ({ text: value.cooked ?? value.raw, start })))
      }
    },
  })
  // Visiting the tree takes most of the time, and few files need it.
  if (EXPORTED.test(source) || (/^\s*(?:test|describe)\b/m.test(source) && source.search(WORDS) >= 0))
    visitor.visit(parsed.program)
  const prose = comments.map(({ value, start }) => ({ text: withoutCode(value), start: start + 2 }))
  return [...headless, ...names, ...[...prose, ...titles].flatMap((text) => findWords(file, source, text))]
}

/** Each name of the printed API, at its first position. Strings such as `"kept"` are values, not names. */
export function findInNames(file: string, page: string): Finding[] {
  const code = page.replace(/"(?:[^"\\\n]|\\.)*"/g, (text) => `"${" ".repeat(text.length - 2)}"`)
  const seen = new Map<string, number>()
  for (const { 0: name, index } of code.matchAll(/\b[A-Za-z_]\w*/g)) if (!seen.has(name)) seen.set(name, index)
  return [...seen].flatMap(([name, index]) => {
    const word = ruledOutPart(name)
    return word ? [{ file, line: lineAt(page, index).line, text: name, word }] : []
  })
}

const ruledOutPart = (name: string): string | undefined =>
  name
    .split(/_|(?<=[a-z\d])(?=[A-Z])/)
    .map((part) => part.toLowerCase())
    .find((part) => PARTS.test(part))

interface Text {
  readonly text: string
  readonly start: number
}

/** Finds words in a text. If escapes shift positions, the line of the text's start is used. */
function findWords(file: string, source: string, { text, start }: Text): Finding[] {
  return [...text.matchAll(WORDS)].map(({ 0: word, index }) => {
    const at = source.startsWith(word, start + index) ? start + index : Math.max(source.indexOf(word, start), start)
    return { file, ...lineAt(source, at), word: word.toLowerCase() }
  })
}

function lineAt(source: string, at: number): { line: number; text: string } {
  const end = source.indexOf("\n", at)
  const text = source.slice(source.lastIndexOf("\n", at - 1) + 1, end === -1 ? undefined : end)
  return { line: source.slice(0, at).split("\n").length, text: text.trim() }
}

/** The entries of the packages, and all files that they re-export. */
function publishedFiles(): string[] {
  const files = new Set([pawl, ...Object.values(libraries)].flatMap(({ entries }) => Object.values(entries)))
  for (const file of files) {
    for (const [, target = ""] of read(file).matchAll(/^(?:export [^;]*?|\} )from "(\.[^"]+)"/gm)) {
      files.add(join(dirname(file), target).replaceAll("\\", "/"))
    }
  }
  return [...files].sort()
}

/** Commits after this one are checked. A shallow clone without it has nothing to check. */
const SINCE = "917bed55"

export const isSubject = (subject: string): boolean =>
  subject.length <= 72 && /^(?:feat|fix|docs|test|perf|refactor|build|chore)\([a-z\d-]+\)!?: \S/.test(subject)

export function readSubjects(): string[] {
  const git = (...words: string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: "pipe" })
  try {
    git("merge-base", "--is-ancestor", SINCE, "HEAD")
    const subjects = git("log", "--no-merges", "--format=%s", `${SINCE}..HEAD`).split("\n")
    return subjects.filter((subject) => subject !== "")
  } catch {
    return [] // a shallow clone, or not a clone
  }
}

if (import.meta.main) {
  const { found, unused } = readEnglish(readExceptions())
  for (const [area, findings] of Object.entries(found)) {
    console.log(`${area}: ${findings.length}`)
    for (const { file, line, text, word } of findings) console.log(`  ${file}:${line} (${word}) ${text}`)
  }
  for (const { file, text } of unused) console.log(`This exception is no longer needed: ${file}: ${text}`)
}
