import { describe, expect, test } from "vitest"
import { LocalDevice } from "../../client/device/local-device.fixture.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import type { ServerFrame, ToolCall } from "../../core/protocol/socket.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase, type TestDatabase } from "../support/databases.ts"
import type { Visitor } from "../support/server/face.ts"
import { openServer, Peer, type ServerOptions } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const offline = () => offlineModel()

interface Told {
  readonly answer: string
  readonly proposals: readonly Proposal[]
}

/** A person with some client, and a workspace on their own machine. */
interface Person {
  say(text: string): Promise<Told>
  commit(proposal: Proposal | undefined): Promise<Told>
  results(): Promise<string[]>
}

const overHttp = (ada: Visitor, id: string): Omit<Person, "results"> => {
  const told = ({ messages, proposals }: { messages: { content: string }[]; proposals: Proposal[] }): Told => ({
    answer: messages.at(-1)?.content ?? "",
    proposals,
  })
  return {
    say: async (text) => told((await ada.say(id, text)).body),
    async commit(proposal) {
      expect((await ada.post(`/api/agent/proposals/${proposal?.id}/commit`)).body.status).toBe("applied")
      return told((await ada.post(`/api/conversations/${id}/resume`)).body)
    },
  }
}

const overSocket = (peer: Peer, conversationId: string): Omit<Person, "results"> => {
  let from = 0
  const next = async (): Promise<Told> => {
    // The final of a pause has as text what the frame before it has as data.
    const ends = (frame: ServerFrame) =>
      (frame.type === "final" && frame.status === undefined) || frame.type === "awaiting_confirmation"
    await peer.until((seen) => seen.slice(from).some(ends))
    const frame = peer.seen.slice(from).find(ends)
    from = peer.seen.indexOf(frame as ServerFrame) + 1
    if (frame?.type === "awaiting_confirmation") return { answer: "", proposals: frame.proposals }
    return { answer: frame?.type === "final" ? frame.response : "", proposals: [] }
  }
  return {
    say(message) {
      peer.send({ type: "chat_request", message, context: { conversationId } })
      return next()
    },
    commit(proposal) {
      peer.send({ type: "decide", proposalId: proposal?.id, decision: "commit" })
      return next()
    },
  }
}

const open = async (
  database: TestDatabase,
  way: "HTTP" | "a socket",
  { silent = false, ...options }: Omit<ServerOptions, "database"> & { silent?: boolean },
) => {
  const server = await openServer({ database, ...options })
  const ada = await server.visitor("ada")
  const device = new LocalDevice()
  const asked: ToolCall[] = []
  const peer = await Peer.open(server.url, { authorization: `Bearer ${await server.tokenFor("ada")}` })
  const deal = async (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as ServerFrame
    if (frame.type === "ping") peer.send({ type: "pong" })
    if (frame.type !== "tool_call") return
    asked.push(frame)
    const outcome = silent ? undefined : await device.calls.perform(frame)
    if (outcome) peer.send({ type: "tool_result", id: frame.id, ...outcome })
  }
  peer.socket.on("message", (data: Buffer) => void deal(data))
  peer.send({ type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] })
  await peer.next("hello")
  const id = await ada.begin({ deviceId: "laptop" })
  const messages = async () => (await ada.get(`/api/conversations/${id}`)).body.messages
  const person: Person = {
    ...(way === "HTTP" ? overHttp(ada, id) : overSocket(peer, id)),
    results: async () =>
      (await messages()).flatMap(({ role, content }: { role: string; content: string }) =>
        role === "tool" ? [content] : [],
      ),
  }
  return {
    ...{ person, device, asked, ada, id, peer },
    async [Symbol.asyncDispose]() {
      peer[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
      device[Symbol.dispose]()
    },
  }
}

describe.each(anyDatabase)("on $name", (database) => {
  describe.each(["HTTP", "a socket"] as const)("over %s, with the workspace on the person's own machine", (way) => {
    test("list my tasks: the answer has their titles, states and priorities", async () => {
      await using world = await open(database, way, { model: offline() })
      const { person, device, asked } = world
      expect((await person.say("list my tasks")).answer).toBe("No tasks found.")
      await device.insert("tasks", { title: "Buy milk" })
      await device.insert("tasks", { title: "Call Ada", status: "done" })
      expect((await person.say("list my tasks")).answer).toBe(
        "Found 2 task(s):\n- Buy milk (status: todo, priority: medium)\n- Call Ada (status: done, priority: medium)",
      )
      expect(asked.map(({ action, table }) => `${action} ${table}`)).toEqual(["select tasks", "select tasks"])
    })

    test("create a task called Buy milk: proposed, then there", async () => {
      await using world = await open(database, way, { model: offline() })
      const { person, device } = world
      const { proposals } = await person.say("create a task called Buy milk")
      expect(proposals).toMatchObject([{ tool: "create_task", action: "safe_create", status: "pending" }])
      expect(device.rows("tasks")).toEqual([])
      const { answer } = await person.commit(proposals[0])
      const [task] = device.rows("tasks") as { id: string }[]
      expect(task).toMatchObject({ title: "Buy milk", status: "todo", priority: "medium", isAiSuggested: 1 })
      expect(answer).toBe("Task created: Buy milk (status: todo, priority: medium).")
    })

    test("how many todo tasks do I have?", async () => {
      await using world = await open(database, way, { model: offline() })
      for (const status of ["todo", "done", "todo"]) await world.device.insert("tasks", { title: "x", status })
      expect((await world.person.say("how many todo tasks do I have?")).answer).toContain("Found 2 task(s):")
    })

    test("several tools, one after the other, each with the result of the last one", async () => {
      const model = scripted(
        calls("list_projects"),
        calls("list_tasks", { project_id: "Home", status: "todo" }),
        says("You have one to do at home."),
      )
      await using world = await open(database, way, { model })
      const { person, device } = world
      const home = await device.insert("projects", { name: "Home" })
      await device.insert("tasks", { title: "Mow", projectId: home.id })
      await device.insert("tasks", { title: "Elsewhere" })
      expect((await person.say("How many todo tasks do I have at home?")).answer).toBe("You have one to do at home.")
      const [projects, tasks] = await person.results()
      expect(projects).toContain(`- Home (status: active, id: ${home.id})`)
      expect(tasks).toMatch(/^Found 1 task\(s\):\n- Mow /)
    })

    test("two calls in one reply: results in order, and two writes that wait together", async () => {
      const model = scripted(
        calls(["list_tasks"], ["list_projects"]),
        calls(["create_task", { title: "A" }], ["create_task", { title: "B" }]),
        says("Both."),
      )
      await using world = await open(database, way, { model })
      const { person, device, ada, id } = world
      const { proposals } = await person.say("Both, please.")
      expect((await person.results()).slice(0, 2)).toEqual(["No tasks found.", "No projects found."])
      expect(proposals.map(({ arguments: given }) => given.title)).toEqual(["A", "B"])
      const yes = { decision: "yes", proposalIds: proposals.map((proposal) => proposal.id) }
      expect((await ada.post(`/api/conversations/${id}/decide`, yes)).status).toBe(200)
      await ada.post(`/api/conversations/${id}/resume`)
      expect((device.rows("tasks") as { title: string }[]).map(({ title }) => title).toSorted()).toEqual(["A", "B"])
      expect((await person.results()).slice(2).map((text) => text.slice(0, 15))).toEqual([
        "Task created: A",
        "Task created: B",
      ])
    })

    test("at the limit of its iterations the model must answer with text", async () => {
      const looks = Array.from({ length: 5 }, (_, n) => calls("list_tasks", { search: `word ${n}` }))
      const model = scripted(...looks, says("I have looked enough."))
      await using world = await open(database, way, { model })
      expect((await world.person.say("Look for everything.")).answer).toBe("I have looked enough.")
      expect(model.received.map(({ request }) => request.toolChoice)).toEqual([...Array(5).fill("auto"), "none"])
      expect(await world.person.results()).toHaveLength(5)
    })

    test("a device that does not answer: after 30 s the read returns an error message, and the run continues", async () => {
      const clock = new TurnedClock()
      const model = scripted(calls("list_tasks"), says("Your device does not answer."))
      await using world = await open(database, way, { model, clock, silent: true })
      const told = world.person.say("list my tasks")
      await expect.poll(() => world.asked.length).toBe(1)
      await clock.turn(29_000)
      expect(await world.person.results()).toEqual([])
      await clock.turn(1000)
      // A socket gathers text for a moment, by the same clock.
      let spoken = false
      void told.finally(() => (spoken = true))
      await expect.poll(() => clock.turn(20).then(() => spoken), { interval: 20 }).toBe(true)
      expect((await told).answer).toBe("Your device does not answer.")
      expect((await world.person.results())[0]).toContain("did not answer within 30 s")
    })
  })
})
