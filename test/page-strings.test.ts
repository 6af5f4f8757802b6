import { readdirSync, readFileSync } from "node:fs"
import { basename, join, posix } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { expect, test } from "vitest"
import { providerName } from "../apps/web/components/provider-name.ts"
import { parseMessage, type Part } from "../apps/web/strings/message.ts"
import { providers } from "../core/models/providers/list.ts"

type Messages = Readonly<Record<string, string>>

const web = join(import.meta.dirname, "../apps/web")
const read = <Content>(path: string): Content => JSON.parse(readFileSync(join(web, "strings", path), "utf8")) as Content

const english = catalogue("en")
const german = catalogue("de")
const ofFirstLoad = areasOf("en/start.ts")

/** `inbox.empty` and its message. */
function catalogue(language: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(web, "strings", language)).filter((name) => name.endsWith(".json"))
  return new Map(
    files.flatMap((file) =>
      Object.entries(read<Messages>(`${language}/${file}`)).map(
        ([name, message]) => [`${basename(file, ".json")}.${name}`, message] as const,
      ),
    ),
  )
}

/** The areas that a list of catalogues imports. */
function areasOf(path: string): readonly string[] {
  const imports = readFileSync(join(web, "strings", path), "utf8").matchAll(/"\.\/(\w+)\.json"/g)
  return [...imports].map(([, area]) => area as string)
}

/** The values that a caller has to pass, and tags as `<name>`. */
function placeholders(parts: readonly Part[]): Set<string> {
  return new Set(
    parts.flatMap((part): string[] => {
      if (typeof part === "string") return []
      if (part.type === "value") return [part.name]
      if (part.type === "tag") return [`<${part.name}>`, ...placeholders(part.parts)]
      return [part.name, ...[...part.cases.values()].flatMap((each) => [...placeholders(each)])]
    }),
  )
}

test("each language has every message, with the same placeholders", () => {
  expect([...german.keys()].sort()).toEqual([...english.keys()].sort())
  const different = [...english].flatMap(([key, message]) => {
    const [here, there] = [message, german.get(key) ?? ""].map((each) => [...placeholders(parseMessage(each))].sort())
    return String(here) === String(there) ? [] : [`${key}: ${String(here)} in English, ${String(there)} in German`]
  })
  expect(different).toEqual([])
  for (const language of ["en", "de"]) {
    const areas = [...areasOf(`${language}/start.ts`), ...areasOf(`${language}/rest.ts`)].sort()
    const files = readdirSync(join(web, "strings", language)).filter((name) => name.endsWith(".json"))
    expect(areas.map((area) => `${area}.json`)).toEqual(files.sort())
  }
})

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

interface Source {
  readonly path: string
  readonly program: Node
  readonly text: string
}

const sources: readonly Source[] = readdirSync(web, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.ts$|^vite\.config|^(strings|docs)\//.test(path))
  .map((path) => {
    const text = readFileSync(join(web, path), "utf8")
    const lang = path.endsWith("x") ? "tsx" : "ts"
    return { path, text, program: parseAst(text, { lang }) as unknown as Node }
  })

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Visits each node with those around it, the nearest last. */
function walk(node: Node, visit: (node: Node, around: readonly Node[]) => void, around: readonly Node[] = []): void {
  visit(node, around)
  const inside = [...around, node]
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) walk(each, visit, inside)
  }
}

interface Use {
  readonly where: string
  readonly call: string
  readonly keys: readonly string[]
  /** Undefined if the values are not written out at the call. */
  readonly passed: ReadonlySet<string> | undefined
  readonly isAtTop: boolean
}

const nameOf = (node: unknown): string => (isNode(node) ? String(node.name ?? "") : "")
const lineOf = ({ path, text }: Source, node: Node): string =>
  `${path}:${text.slice(0, node.start as number).split("\n").length}`

/** The keys that an expression may be: literals, and for a template all that fit it. */
function keysIn(node: Node | undefined): string[] {
  const keys: string[] = []
  if (node)
    walk(node, (each) => {
      if (each.type === "Literal" && typeof each.value === "string" && english.has(each.value)) keys.push(each.value)
      if (each.type !== "TemplateLiteral") return
      const texts = (each.quasis as Node[]).map((quasi) => (quasi.value as { readonly cooked: string }).cooked)
      if (!/^[a-z]+\./.test(texts[0] ?? "")) return
      const fits = new RegExp(`^${texts.map((text) => text.replaceAll(".", "\\.")).join("\\w+")}$`)
      keys.push(...[...english.keys()].filter((key) => fits.test(key)))
    })
  return keys
}

function usesIn(source: Source): Use[] {
  const uses: Use[] = []
  walk(source.program, (node, around) => {
    const call = node.type === "CallExpression" ? nameOf(node.callee) : ""
    if (call !== "t" && call !== "rich") return
    const [key, values] = node.arguments as (Node | undefined)[]
    const fields = values?.type === "ObjectExpression" ? (values.properties as Node[]) : []
    const isKnown = values === undefined || (fields.length > 0 && fields.every(({ type }) => type === "Property"))
    uses.push({
      where: lineOf(source, node),
      call,
      keys: keysIn(key),
      passed: isKnown ? new Set(fields.map((field) => nameOf(field.key))) : undefined,
      isAtTop: !around.some(({ type }) => /Function|Class/.test(type)),
    })
  })
  return uses
}

const uses = sources.flatMap(usesIn)

test("each call passes what its message needs, and nothing else", () => {
  const faults = uses.flatMap(({ where, call, keys, passed }) =>
    keys.flatMap((key) => {
      const needed = [...placeholders(parseMessage(english.get(key) ?? ""))]
      const hasTags = needed.some((name) => name.startsWith("<"))
      if (hasTags && call === "t") return [`${where}: ${key} has tags, which only rich() fills`]
      if (!passed) return []
      const names = needed.map((name) => name.replaceAll(/[<>]/g, ""))
      const missing = names.filter((name) => !passed.has(name))
      // If there are several keys, one may need fewer values than another.
      const extra = keys.length > 1 ? [] : [...passed].filter((name) => !names.includes(name))
      return [
        ...missing.map((name) => `${where}: ${key} needs ${name}`),
        ...extra.map((name) => `${where}: ${key} has no ${name}`),
      ]
    }),
  )
  expect(faults).toEqual([])
})

test("no message is looked up while a module loads, when the language is not known yet", () => {
  expect(uses.filter(({ isAtTop }) => isAtTop).map(({ where }) => where)).toEqual([])
})

test("each message is used", () => {
  const used = new Set(sources.flatMap(({ program }) => keysIn(program)))
  // A call in this folder, such as that of `format.ts`, counts too.
  for (const path of ["format.ts"]) {
    const program = parseAst(readFileSync(join(web, "strings", path), "utf8"), { lang: "ts" })
    for (const key of keysIn(program as unknown as Node)) used.add(key)
  }
  expect([...english.keys()].filter((key) => !used.has(key))).toEqual([])
})

test("the first load uses only messages that it has, and code that is loaded later brings the others", () => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const source = byPath.get(path)
    if (!source || reached.has(path)) return
    reached.add(path)
    for (const node of source.program.body as Node[]) {
      if (node.source === null || node.source === undefined || node.importKind === "type") continue
      visit(posix.join(posix.dirname(path), String((node.source as Node).value)))
    }
  }
  visit("main.tsx")
  expect(reached.size).toBeGreaterThan(50)
  const late = [...reached].flatMap((path) => {
    const keys = keysIn(byPath.get(path)?.program)
    return keys.filter((key) => !ofFirstLoad.includes(key.split(".")[0] ?? "")).map((key) => `${path}: ${key}`)
  })
  expect(late).toEqual([])
  const bare = sources.flatMap((source) => {
    const found: string[] = []
    walk(source.program, (node, around) => {
      if (node.type !== "ImportExpression" || !String((node.source as Node).value).endsWith(".tsx")) return
      const isWith = around.some((each) => ["withStrings", "lazyPage"].includes(nameOf(each.callee)))
      if (!isWith) found.push(`${lineOf(source, node)} loads code without its messages: use withStrings`)
    })
    return found
  })
  expect(bare).toEqual([])
})

/** Attributes whose text a person sees or hears. */
const SHOWN =
  /^(aria-(label|description|roledescription|valuetext)|title|placeholder|alt|label|says|hint|name|text|size)$/
/** Attributes and properties whose strings are not shown to people. */
const HIDDEN_ATTRIBUTE = /^(className|style|d|viewBox|type|role|key|id|href|to|rel|target|side|align|look|tone|name)$/

/** Names, addresses and commands, which are the same in every language; columns of a chart that are never shown. */
const NAMES = new RegExp(
  `^(${[
    ...["Pawl", "SQL", "CSV", "JSON", "MCP", "XLSX", "PNG", "SVG", "Authorization", "Bearer", "curl", "run_…"],
    ...["\\w+\\.csv", "docs/", "\\.md", "https?://\\S+", "(PAWL_TOKEN=\\S+ )?npx .*", "--\\w+ .*"],
    "(value|share|words) of slice",
    ...["OpenAI", "Anthropic", "Google Gemini", "Azure OpenAI", "Amazon Bedrock", "Google Vertex", "LM Studio"],
  ].join("|")})$`,
)

/** English that a person would see, written in the code instead of a catalogue. */
function englishIn(source: Source): string[] {
  const found: string[] = []
  walk(source.program, (node, around) => {
    const text = textOf(node)
    if (text !== undefined && /\p{L}{2}/u.test(text) && !NAMES.test(text.trim()) && isShown(text, node, around))
      found.push(`${lineOf(source, node)} ${text.trim().replaceAll(/\s+/g, " ").slice(0, 80)}`)
  })
  return found
}

function textOf(node: Node): string | undefined {
  if (node.type === "JSXText" || (node.type === "Literal" && typeof node.value === "string")) return String(node.value)
  if (node.type === "TemplateElement") return (node.value as { readonly cooked: string }).cooked
  return undefined
}

function isShown(text: string, node: Node, around: readonly Node[]): boolean {
  if (node.type === "JSXText") return true
  if (around.some(isNoText)) return false
  const parent = around.at(-1) as Node
  if (/^(Import|Export\w*From|ExportAll)/.test(parent.type) || parent.type === "ImportExpression") return false
  if (parent.type === "BinaryExpression" && /=|in/.test(String(parent.operator))) return false
  if (parent.type === "SwitchCase" || (parent.type === "MemberExpression" && parent.property === node)) return false
  if (/Property$/.test(parent.type) && parent.key === node) return false
  if (around.some((each) => each.type === "Property" && nameOf(each.key) === "key")) return false
  const attribute = around.findLast(({ type }) => type === "JSXAttribute")
  if (attribute) return isShownIn(nameOf(attribute.name), text, around)
  // A child of an element: `{isOpen ? "open" : "closed"}`.
  const container = around.findLastIndex(({ type }) => type === "JSXExpressionContainer")
  const inner = around.slice(container + 1)
  if (container >= 0 && inner.every(({ type }) => /^(Conditional|Logical|Template|Binary)/.test(type))) return true
  return isProse(text)
}

/** A sentence or the start of one, or a word with a capital that stands alone; not the name of a class or a key. */
function isProse(text: string): boolean {
  if (/^[A-Z][a-z]+[’'a-z]*( [\w“”’'(),.:;…–—-]+)+[.?!…:]?$|[a-z]{2,} [a-z]{2,}.*[.?!…]$/.test(text)) return true
  return /^ ?[a-z]+( [a-z]+)+ ?$|^ [a-z]{2,}|[a-z]{2,} $/.test(text) && !/^(flex|grid|group|fill)\b|-/.test(text)
}

function isShownIn(attribute: string, text: string, around: readonly Node[]): boolean {
  const element = around.findLast(({ type }) => type === "JSXOpeningElement")
  const isOurs = /^[A-Z]/.test(nameOf(element?.name))
  if (attribute === "name" || attribute === "size") return isOurs && isProse(text)
  if (SHOWN.test(attribute)) return true
  return !HIDDEN_ATTRIBUTE.test(attribute) && isProse(text)
}

const isNoText = (node: Node): boolean => {
  if (/^TS(Literal|Union|Type|Interface|Template)/.test(node.type) || node.type === "ThrowStatement") return true
  if (node.type === "CallExpression" || node.type === "NewExpression") {
    const { callee } = node
    const name = isNode(callee) && callee.type === "MemberExpression" ? nameOf(callee.property) : nameOf(callee)
    return /^(t|rich|Error|RegExp|matchMedia|querySelector(All)?|closest|createElement|test|matchAll|postMessage)$/.test(
      name,
    )
  }
  return node.type === "JSXAttribute" && nameOf(node.name) === "className"
}

test("text that a person sees stands in the catalogues", () => {
  expect(sources.flatMap(englishIn)).toEqual([])
})

test("each provider has the name that the server uses in its messages", () => {
  for (const [id, { label }] of Object.entries(providers)) expect([id, providerName(id)]).toEqual([id, label])
  expect(providerName("my-endpoint")).toBe("my-endpoint")
})

test("the page describes Pawl's own agents as their packs do, and can therefore translate them", () => {
  const packs = ["workspace/agent.ts", "analyst/agent.ts", "research/agent.ts", "files/device-files.ts"]
  for (const file of packs) {
    const source = readFileSync(join(web, "../../packs", file), "utf8")
    const [, description = ""] = /^    description:\s+"(.*)",$/m.exec(source) ?? []
    expect([file, ...english.values()]).toContain(description)
  }
})
