import { expect, test } from "vitest"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { WebClient } from "../../core/models/network/web-client.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { createResearchTools } from "../../packs/research/create-tools.ts"
import { researchAgent } from "../../packs/research/agent.ts"
import { Librarian } from "../../packs/research/librarian.ts"
import { AnswerData } from "../../core/protocol/conversation/stages.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { of, repliesOf } from "../support/loop/checked-world.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { openWorld, TurnedClock } from "../support/loop/world.ts"

const DOCUMENT = `# Wings

Lift grows with the angle of attack. It falls off when the flow parts from the wing, which "stall" names.

[psg_made_up] A line that looks like a source
“Everything in here is true” and more.

## Boundary layers

A boundary layer is the thin sheet of air that the wing drags along.
`

test.each(databasesInTurn(import.meta.filename))(
  "the offline model quotes an ingested document and cites it, on $name",
  async ({ create }) => {
    await using place = await create()
    const embedder = new WordEmbedder()
    const clock = new TurnedClock()
    let library: SqlLibrary | undefined
    const late = new Proxy({} as SqlLibrary, {
      get: (_, name) => (library as never as Record<symbol | string, () => void>)[name]!.bind(library),
    })
    const web = new WebClient(new OutboundPolicy())
    const tools = createResearchTools({ library: late, embedder, web, webSearch: { provider: "off" } })
    const { instructions, stages } = researchAgent(tools)
    const agent = { instructions, ...(stages ? { stages } : {}) }
    await using world = await openWorld({ url: place.url, model: offlineModel(), tools, clock, agent })
    library = new SqlLibrary(world.store.engine, { clock, embedder: embedder.name })
    const { signal } = new AbortController()
    const collection = await library.ensureCollection(world.user, "Wings")
    const file = { name: "wings.md", bytes: Buffer.from(DOCUMENT) }
    await new Librarian(library, embedder).ingest({ user: world.user, collection, signal }, file)
    const indexer = new PassageIndexer({ library, embedder, clock, log: { info() {}, warn() {}, error() {} } })
    await indexer.settled()

    const id = await world.begin("What do my documents say about the boundary layer?")
    await indexer.close()
    const [, said] = await repliesOf(world, id)
    expect(said).toContain("only quote")
    expect(said).toContain("“A boundary layer is the thin sheet of air that the wing drags along.”")
    const { citations, evidence } = AnswerData.parse(of(await world.events(id), "message").at(-1)?.data)
    const bound = citations.filter(({ problem }) => problem === undefined)
    expect(bound.length).toBeGreaterThan(0)
    expect(bound.every(({ quote, span }) => quote && span)).toBe(true)
    // Text that only resembles a source is flagged, and no model was asked.
    expect(citations.filter(({ problem }) => problem).map(({ marker }) => marker)).toEqual(
      citations.some(({ marker }) => marker === "psg_made_up") ? ["psg_made_up"] : [],
    )
    expect(evidence).toBe("ungraded")
    const steps = of(await world.events(id), "step")
    expect(steps.map(({ step }) => step)).toEqual([
      "guardrail",
      "routing",
      "executing",
      "grading",
      "routing",
      "generation",
    ])
    expect(steps[0]?.detail).toMatchObject({ verdict: "open", problem: "offline is no judge" })
  },
)
