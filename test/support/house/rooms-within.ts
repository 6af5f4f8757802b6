import { importGraph, isTest, type Sources } from "./sources.ts"

/**
 * The rooms within rooms, bottom first, and what each may import of those beside it. What lies in no room of its own is the
 * root: it puts the rooms together, and no room imports a file of it that leads back to that room. Tests are free.
 */
export const roomsWithin: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "src/protocol": {
    encoding: [],
    text: [],
    time: [],
    errors: ["time"],
    account: ["text"],
    conversation: [],
    models: ["conversation", "text"],
    proposals: ["conversation"],
    calls: ["conversation", "proposals"],
    databases: ["encoding"],
    dialects: ["conversation", "time"],
    routes: ["account", "conversation", "databases", "dialects", "models", "proposals", "time"],
    ports: ["account", "conversation", "routes"],
  },
  "src/agent": {
    cite: [],
    concurrency: [],
    definition: [],
    history: ["cite", "definition"],
    earlier: ["cite", "definition", "history", "replay"],
    ask: ["cite", "concurrency", "definition", "history"],
    calls: ["ask", "concurrency", "definition", "history"],
    gate: ["calls", "concurrency", "definition"],
    accept: ["calls", "definition", "gate", "history"],
    replay: ["calls", "cite", "definition", "gate", "history"],
    rebuild: ["ask", "definition", "history", "replay"],
    runtime: ["accept", "ask", "concurrency", "gate", "history", "loop.ts", "replay"],
  },
  "src/models": {
    network: [],
    providers: ["network"],
    discovery: ["providers"],
    embedders: ["providers"],
    offline: ["providers"],
    scripted: ["offline"],
  },
  "src/store": {
    engine: [],
    migrations: ["engine"],
    packs: ["engine", "migrations"],
    proposals: ["engine"],
    journal: ["engine", "proposals"],
    people: ["engine"],
    files: ["engine"],
    databases: ["engine", "files", "people"],
    mcp: ["engine", "people"],
    library: ["engine"],
    workspace: ["engine", "library"],
  },
  "src/store/engine": { postgres: [], sqlite: [] },
  "src/mcp": { definition: [], connection: ["definition"], "sign-in": ["connection", "definition"] },
  "src/server": {
    metrics: [],
    door: ["metrics"],
    request: ["door"],
    files: ["door", "request"],
    conversation: ["door"],
    stream: ["conversation", "door", "metrics"],
    socket: ["conversation", "door", "request", "stream"],
    routes: ["conversation", "door", "files", "metrics", "request", "stream"],
  },
  "src/server/routes": {
    account: [],
    "ag-ui": [],
    "ai-sdk": [],
    conversations: [],
    data: [],
    mcp: [],
    "mcp-servers": ["account"], // a page of the door, where people are sent back to
    models: [],
    openai: [],
    operations: [],
    packs: [],
    pages: ["packs"], // the reference tells what packs bring
    proposals: [],
    threads: [],
  },
  "src/packs": { analyst: [], files: [], outside: [], research: [], workspace: [] },
  "src/packs/analyst": {
    charts: [],
    database: [],
    markdown: ["database"],
    postgres: ["database"],
    sqlite: ["database"],
    csv: ["sqlite"],
    connections: ["csv", "database", "markdown", "postgres", "sqlite"],
    tools: ["charts", "connections", "database", "markdown"],
  },
  "src/packs/files": { folder: [], protected: ["folder"], sandbox: ["folder"] },
  "src/packs/research": { passages: [], html: ["passages"], pdf: ["html", "passages"], rtf: ["passages"] },
  "src/packs/workspace": { device: [], routing: [], speech: [], tables: ["device", "speech"] },
  "src/client": { stream: [], socket: ["stream"], transcript: [], timeline: ["transcript"] },
  "src/terminal": {
    input: [],
    drawing: [],
    deciding: ["drawing"],
    naming: [],
    talk: ["deciding", "drawing", "naming"],
    screen: ["deciding", "drawing", "input", "naming", "talk"],
  },
  "src/evaluate": {
    file: [],
    check: ["file"],
    run: ["check", "file"],
    report: ["file"],
  },
  "src/cli": {
    process: [],
    settings: ["process"],
    open: ["process", "settings"],
    crashtest: ["process", "settings"],
    doctor: ["settings"],
    replay: [],
    commands: ["crashtest", "doctor", "open", "process", "replay", "settings"],
  },
  web: {
    icons: [],
    state: [],
    parts: ["icons", "state"],
    markdown: ["icons", "parts", "state"],
    chart: ["parts", "state"],
    changes: ["parts", "state"],
    views: ["changes", "chart", "icons", "markdown", "parts", "state"],
    proposal: ["changes", "icons", "parts", "state", "views"],
    shell: ["icons", "parts", "proposal", "state"],
    connections: ["icons", "markdown", "parts", "state", "views"],
    audit: ["changes", "icons", "parts", "proposal", "shell", "state"],
    conversation: ["chart", "connections", "icons", "markdown", "parts", "proposal", "shell", "state", "views"],
    inbox: ["parts", "proposal", "shell", "state"],
    library: ["icons", "parts", "shell", "state"],
    runs: ["icons", "parts", "shell", "state"],
    settings: ["connections", "icons", "parts", "runs", "shell", "state"],
    workspace: ["icons", "markdown", "parts", "shell", "state"],
  },
  "web/conversation": { "reply-settings": [], composer: ["reply-settings"], messages: ["composer"], beginning: [] },
  "web/workspace": { rows: [], tasks: ["rows"] },
}

/**
 * Where the root holds the words that all rooms speak as well as what works with them, every room leads to itself through
 * it. There these files are what puts rooms together: only a room that names one imports it.
 */
const composing: Readonly<Record<string, readonly string[]>> = {
  "src/agent": ["end-run.ts", "loop.ts", "recover-calls.ts", "run-tools.ts", "take-inbox.ts"],
}

/** Every arrow between the rooms of a room that its table does not have, as a sentence. */
export function roomFaultsIn(sources: Sources): string[] {
  const graph = importGraph(sources)
  return Object.entries(roomsWithin).flatMap(([base, rooms]) => {
    const inside = [...graph.keys()].filter((path) => path.startsWith(`${base}/`) && !isTest(path) && !isFixture(path))
    return inside.flatMap((path) => {
      const from = partOf(base, path)
      if (from === path) return [] // of the root, which imports what it likes
      const allowed = rooms[from]
      if (!allowed) return [`${path} is in a new place: ${from} is no declared room of ${base}`]
      const targets = (graph.get(path) ?? []).filter((target) => target.startsWith(`${base}/`))
      return targets.flatMap((target) => {
        const to = partOf(base, target)
        if (to === from) return []
        if (to !== target)
          return allowed.includes(to) ? [] : [`${path} imports ${target}: ${from} may not import ${to}`]
        const name = target.slice(base.length + 1)
        const puts = composing[base] ? composing[base].includes(name) : leadsInto(graph, target, `${base}/${from}/`)
        return puts && !allowed.includes(name)
          ? [`${path} imports ${target}: that puts ${from} together with others`]
          : []
      })
    })
  })
}

/** The room within `base` that a file is in; the file itself where it is in none. */
function partOf(base: string, path: string): string {
  const [room = "", ...rest] = path.slice(base.length + 1).split("/")
  return rest.length > 0 ? room : path
}

function leadsInto(graph: ReadonlyMap<string, readonly string[]>, from: string, folder: string): boolean {
  const seen = new Set<string>()
  const next = [from]
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    if (file.startsWith(folder)) return true
    next.push(...(graph.get(file) ?? []))
  }
  return false
}

const isFixture = (path: string): boolean => /\.fixture\.tsx?$/.test(path)
