import { importGraph, isTest, type Sources } from "./sources.ts"

/**
 * The modules within modules, bottom first, and what each may import of its siblings. Files outside these modules are
 * the root: it composes the modules, and no module imports a root file that leads back to that module. Tests are
 * exempt.
 */
export const roomsWithin: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "core/shared": {
    text: [],
    time: [],
    encoding: [],
    concurrency: ["time"],
    vectors: [],
    processes: ["concurrency"],
  },
  "core/protocol": {
    account: [],
    conversation: [],
    models: ["conversation"],
    proposals: ["conversation"],
    calls: ["conversation", "proposals"],
    databases: [],
    dialects: ["conversation"],
    routes: ["account", "conversation", "databases", "dialects", "models", "proposals"],
  },
  "core/engine": {
    definition: [],
    history: ["definition"],
    ask: ["definition", "history"],
    calls: ["ask", "definition", "history"],
    gate: ["calls", "definition"],
    accept: ["calls", "definition", "gate", "history"],
    replay: ["calls", "definition", "gate", "history"],
    rebuild: ["ask", "definition", "history", "replay"],
    runtime: ["accept", "ask", "definition", "gate", "history", "loop.ts", "replay"],
  },
  "core/models": {
    network: [],
    providers: ["network"],
    discovery: ["providers"],
    embedders: ["providers"],
    scripted: [],
  },
  "core/store": {
    engine: [],
    storage: ["engine"],
    schema: ["engine", "storage"],
    packs: ["engine", "schema"],
    proposals: ["engine"],
    journal: ["engine", "proposals"],
    people: ["engine"],
    files: ["engine"],
    databases: ["engine", "files", "people"],
    mcp: ["engine", "people"],
    library: ["engine"],
    workspace: ["engine", "library"],
    transfer: ["engine", "files", "journal", "people"],
  },
  "core/store/engine": { postgres: [], sqlite: [] },
  "core/tools": { "json-schema": [], mcp: [] },
  "core/tools/mcp": { definition: [], connection: ["definition"], "sign-in": ["connection", "definition"] },
  "core/server": {
    metrics: [],
    auth: ["metrics"],
    request: ["auth"],
    files: ["auth", "request"],
    conversation: ["auth", "metrics"],
    stream: ["auth", "conversation", "metrics"],
    socket: ["auth", "conversation", "files", "request", "stream"],
    routes: ["auth", "conversation", "files", "metrics", "request", "stream"],
  },
  "packs/analyst": {
    "chart-spec": [],
    charts: ["chart-spec"],
    database: [],
    markdown: ["database"],
    postgres: ["database"],
    sqlite: ["database"],
    csv: ["sqlite"],
    connections: ["csv", "database", "markdown", "postgres", "sqlite"],
    tools: ["chart-spec", "charts", "connections", "database", "markdown"],
  },
  "packs/files": { folder: [], protected: ["folder"], sandbox: ["folder"], skills: ["folder"] },
  "packs/research": {
    citations: [],
    passages: [],
    html: ["passages"],
    pdf: ["html", "passages"],
  },
  "packs/workspace": {
    device: [],
    routing: [],
    tables: ["device"],
  },
  client: { device: [], stream: [], socket: ["stream"], transcript: [], timeline: ["transcript"] },
  "apps/terminal": {
    input: [],
    drawing: [],
    approvals: ["drawing"],
    attachments: [],
    session: ["approvals", "attachments", "drawing"],
    screen: ["approvals", "attachments", "drawing", "input", "session"],
  },
  "labs/evaluate": {
    file: [],
    run: ["check-answer.ts", "check-left-behind.ts", "file"],
    report: ["file"],
  },
  "apps/cli": {
    process: [],
    settings: ["process"],
    open: ["process", "settings"],
    doctor: ["settings"],
    commands: ["doctor", "open", "process", "settings"],
  },
  "apps/web": {
    strings: [],
    docs: [], // the search of the documentation, which is no part of the page
    state: ["strings"],
    components: ["state", "strings"],
    markdown: ["components", "state", "strings"],
    chart: ["components", "state", "strings"],
    changes: ["components", "state", "strings"],
    views: ["changes", "chart", "markdown", "components", "state", "strings"],
    proposal: ["changes", "components", "state", "strings", "views"],
    shell: ["components", "proposal", "state", "strings"],
    connections: ["markdown", "components", "state", "strings", "views"],
    audit: ["changes", "components", "proposal", "shell", "state", "strings"],
    conversation: ["chart", "connections", "markdown", "components", "proposal", "shell", "state", "strings", "views"],
    inbox: ["components", "proposal", "shell", "state", "strings"],
    library: ["components", "shell", "state", "strings"],
    runs: ["components", "shell", "state", "strings"],
    settings: ["connections", "components", "runs", "shell", "state", "strings"],
    workspace: ["markdown", "components", "shell", "state", "strings"],
  },
  "apps/web/conversation": {
    "reply-settings": [],
    composer: ["reply-settings"],
    messages: ["composer"],
  },
  "apps/web/workspace": { rows: [], tasks: ["rows"] },
}

/**
 * If the root holds shared types as well as the code that uses them, every module leads to itself through the root.
 * In these folders only the listed files compose modules: a module imports one only if its entry names the file.
 */
const composing: Readonly<Record<string, readonly string[]>> = {
  "core/engine": ["end-run.ts", "loop.ts", "run-tools.ts", "take-inbox.ts"],
}

/** Returns every import between modules that the table does not allow, as a sentence. */
export function roomFaultsIn(sources: Sources): string[] {
  const graph = importGraph(sources)
  return Object.entries(roomsWithin).flatMap(([base, rooms]) => {
    const inside = [...graph.keys()].filter((path) => path.startsWith(`${base}/`) && !isTest(path) && !isFixture(path))
    return inside.flatMap((path) => {
      const from = partOf(base, path)
      if (from === path) return [] // the root may import every module
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

/** Returns the module within `base` of a file; the file itself if it is in none. */
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
