import { describe, expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { calls } from "../../core/models/scripted/script.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { aborted, read } from "../support/loop/tools.ts"
import { openWorld, type World } from "../support/loop/world.ts"

const LEFT = 200

/** Every run calls a tool that only a signal ends, like long work. */
const model = () => scripted(always(() => calls("work")))
const work = read("work", async (_input, { signal }) => {
  await aborted(signal)
  return answer("")
})

/** A node that counts what it reads and what it claims. */
class Survivor implements AsyncDisposable {
  readonly world: World
  readonly #counts: Counts

  private constructor(world: World, counts: Counts) {
    this.world = world
    this.#counts = counts
  }

  static async open(url: string): Promise<Survivor> {
    const counts = { claims: 0, refused: 0, folded: new Set<ConversationId>() }
    const between = (journal: Journal) => counted(journal, counts)
    const world = await openWorld({ url, model: model(), tools: [work], between })
    await world.pawl.runtime.recover() // as it has done all the time
    return new Survivor(world, counts)
  }

  get claims(): number {
    return this.#counts.claims
  }

  get refused(): number {
    return this.#counts.refused
  }

  /** The number of conversations that it has read in order to take them over and did not get. */
  get foldedInVain(): number {
    return [...this.#counts.folded].filter((id) => !this.world.store.journal.isWriterOf(id)).length
  }

  get taken(): number {
    return [...this.#counts.folded].length - this.foldedInVain
  }

  /** Polls once, and waits for all that it has started. */
  async look(): Promise<void> {
    const { runtime } = this.world.pawl
    await runtime.recover()
    await expect.poll(() => [...runtime.working()].every((id) => this.world.store.journal.isWriterOf(id))).toBe(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }
}

interface Counts {
  claims: number
  refused: number
  readonly folded: Set<ConversationId>
}

function counted(journal: Journal, counts: Counts): Journal {
  const claim: Journal["claim"] = async (...given) => {
    counts.claims++
    const claimed = await journal.claim(...given)
    if (claimed !== "claimed") counts.refused++
    return claimed
  }
  const load: Journal["load"] = (id, fresh) => {
    counts.folded.add(id)
    return journal.load(id, fresh)
  }
  return new Proxy(journal, {
    get(target, name) {
      if (name === "claim") return claim
      if (name === "load") return load
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
  })
}

/** A node that is at work on so many conversations when it dies. */
async function dies(url: string, count = LEFT): Promise<void> {
  const mortal = new Mortal()
  await using world = await openWorld({ url, model: model(), tools: [work], between: mortal.between })
  await Promise.all(Array.from({ length: count }, () => world.start("Work.")))
  await callsBegun(world, count)
  mortal.kill()
}

/** A node that takes over all that is left, and fails when every tool call has been restarted. */
async function diesToo(url: string, count: number): Promise<void> {
  const mortal = new Mortal()
  await using world = await openWorld({ url, model: model(), tools: [work], between: mortal.between })
  await world.pawl.runtime.recover()
  await callsBegun(world, 2 * count)
  mortal.kill()
}

async function callsBegun({ store }: World, count: number): Promise<void> {
  const sql = "SELECT count(*) AS begun FROM event WHERE type = 'tool_start'"
  await expect.poll(() => store.engine.query(sql, []), { timeout: 60_000 }).toEqual([{ begun: count }])
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

describe.each(databases.filter(({ name }) => name === "postgres"))("three survivors on one $name", ({ create }) => {
  test.each(["at the same moment", "one after the other"])(
    "that poll %s share the work of a dead node, and none reads what another claims",
    async (how) => {
      await using database = await create()
      await using one = await Survivor.open(database.url)
      await using two = await Survivor.open(database.url)
      await using three = await Survivor.open(database.url)
      const all = [one, two, three]
      await dies(database.url)
      if (how === "at the same moment") await Promise.all(all.map((each) => each.look()))
      else for (const each of all) await each.look()
      expect(sum(all.map(({ taken }) => taken))).toBe(LEFT)
      expect(Math.min(...all.map(({ taken }) => taken))).toBeGreaterThanOrEqual(LEFT / 6)
      expect(sum(all.map(({ claims }) => claims))).toBeLessThanOrEqual(1.1 * LEFT)
      expect(sum(all.map(({ refused }) => refused))).toBeLessThanOrEqual(0.1 * LEFT)
      expect(all.map(({ foldedInVain }) => foldedInVain)).toEqual([0, 0, 0])
    },
  )

  test("that find runs which may have killed their process judge them once, and each retries one of them alone", async () => {
    await using database = await create()
    await using one = await Survivor.open(database.url)
    await using two = await Survivor.open(database.url)
    await using three = await Survivor.open(database.url)
    const all = [one, two, three]
    const suspects = 6
    await dies(database.url, suspects)
    await diesToo(database.url, suspects)
    await Promise.all(all.map(({ world }) => world.pawl.runtime.recover()))
    const atWork = ({ world }: Survivor) =>
      [...world.pawl.runtime.working()].filter((id) => world.store.journal.isWriterOf(id)).length
    await expect.poll(() => all.map(atWork), { timeout: 60_000 }).toEqual([1, 1, 1])
    // The node that judged has read them all; the others have read only those they got.
    expect(all.map(({ foldedInVain }) => foldedInVain).toSorted()).toEqual([0, 0, suspects - 1])
  })

  test("take over at the next poll what was left for one of them that does not poll", async () => {
    await using database = await create()
    await using one = await Survivor.open(database.url)
    await using two = await Survivor.open(database.url)
    await using silent = await Survivor.open(database.url)
    await dies(database.url)
    await one.look()
    await two.look()
    expect(one.taken + two.taken).toBeLessThan(LEFT)
    await one.look()
    expect([one.taken + two.taken, silent.taken]).toEqual([LEFT, 0])
    await expect.poll(() => one.world.store.engine.query("SELECT * FROM earmark", [])).toEqual([])
  })
})
