import { type Plugin, RolldownMagicString } from "rolldown"
import { parseSync, Visitor } from "rolldown/utils"

/**
 * Functions that were called on the way to a first answer (`rehearse.ts`), by the file they are in and by their own words.
 *
 * V8 compiles a function when it is first called, having read over it before, unless it stands in parentheses: then it is
 * compiled with its file, and kept with it in the compile cache, which is taken before any function was called. So what is
 * called early is put into parentheses. Methods cannot be, and stay as they are.
 */
export class EarlyFunctions {
  readonly #called = new Map<string, Set<string>>()

  /** `starts`: where in the code of a file those begin that were called. */
  add(file: string, code: string, starts: ReadonlySet<number>): void {
    const called = this.#called.get(file) ?? new Set<string>()
    this.#called.set(file, called)
    const { declared, others } = functionsIn(code)
    for (const { start, end } of [...declared, ...others])
      if (starts.has(start)) called.add(wordsOf(code.slice(start, end)))
  }

  /** The code of a file with what was called in parentheses; null for a file of which nothing was. */
  mark(file: string, code: string): Marked | null {
    const called = this.#called.get(file)
    return called ? inParentheses(code, (words) => called.has(wordsOf(words))) : null
  }

  plugin(): Plugin {
    return { name: "early-functions", renderChunk: (code, { name }) => this.mark(name, code) }
  }
}

/** Without the names of our files, which differ from build to build. */
const wordsOf = (code: string) => code.replaceAll(/"\.\/[^"]+\.js"/g, '""')

interface Marked {
  readonly code: string
  /** Where its lines were before, as JSON. */
  readonly map: string
}

interface Place {
  readonly start: number
  readonly end: number
}
interface Declared extends Place {
  readonly name: string
  /** Up to its parameters. */
  readonly head: Place
}

/** The code with these functions in parentheses. Declared ones come first, as what is declared is there before all else. */
export function inParentheses(code: string, isEarly: (words: string) => boolean): Marked {
  const changed = new RolldownMagicString(code)
  const { declared, others, body } = functionsIn(code)
  const early = ({ start, end }: Place) => isEarly(code.slice(start, end))
  for (const { start, end, name, head } of declared.filter(early)) {
    changed.overwrite(head.start, head.end, `var ${name} = (${code.slice(start, head.start).trimEnd()}`)
    changed.remove(start, head.start)
    changed.appendLeft(end, ");\n")
    changed.move(start, end, body)
  }
  for (const { start, end } of others.filter(early)) {
    changed.prependRight(start, "(")
    changed.appendLeft(end, ")")
  }
  return { code: changed.toString(), map: changed.generateMap({ hires: "boundary" }).toString() }
}

/** The functions of a file that can stand in parentheses, and where it begins behind its imports. */
function functionsIn(code: string) {
  const { program, errors } = parseSync("chunk.js", code, { lang: "js", sourceType: "module" })
  if (errors.length > 0) throw new Error(`A file of ours cannot be parsed: ${errors[0]?.message}`)
  const body = program.body.findLast(({ type }) => type === "ImportDeclaration")?.end ?? 0
  const declared: Declared[] = program.body.flatMap((node) =>
    node.type === "FunctionDeclaration" && node.id
      ? [{ start: node.start, end: node.end, name: node.id.name, head: { start: node.id.start, end: node.id.end } }]
      : [],
  )
  const others: Place[] = []
  const methods = new Set<unknown>()
  const add = (node: Place) => methods.has(node) || others.push({ start: node.start, end: node.end })
  new Visitor({
    MethodDefinition: ({ value }) => void methods.add(value),
    Property: ({ value, method, kind }) => void ((method || kind !== "init") && methods.add(value)),
    FunctionExpression: (node) => void add(node),
    ArrowFunctionExpression: (node) => void add(node),
  }).visit(program)
  return { declared, others, body }
}
