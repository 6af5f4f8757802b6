import { beforeAll, describe, expect, test, vi } from "vitest"
import { always } from "../../core/models/scripted/model.ts"
import { calls, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { type AgUiAgent, asks, HttpAgent, runs, shownOf } from "./ag-ui-client.ts"
import { type AiSdkPerson, aiSdkAs, NodeChat, plain, sdk } from "./ai-sdk-client.ts"
import { CuttingFetch } from "./cutting-fetch.ts"
import { Stage } from "./stage.ts"

/** Cuts every 61 bytes, in addition to the end of each event, so that events of all kinds are cut in the middle too. */
const STEP = 61
/** Contains multi-byte characters, so that some cuts fall inside a character. */
const REPLY = "Dort — ☑ 😀."

describe.each(anyDatabase)(
  "a stream that is cut at the end of each event, and after every 61st byte, on $name",
  (database) => {
    let stage: Stage
    let ada: AiSdkPerson

    beforeAll(async () => {
      vi.spyOn(console, "error").mockImplementation(() => {}) // a client prints what it throws
      stage = await Stage.open(database)
      ada = await aiSdkAs(stage.face, "ada")
      return () => stage[Symbol.asyncDispose]()
    })

    /** One run: reasons, replies, calls a tool of the client, and answers with its result. */
    const plays = () =>
      stage.plays(
        always(({ history }) =>
          history.at(-1)?.role === "tool"
            ? says(REPLY, { chunks: 2 })
            : replies(thinks("Hm."), says("Look."), calls("client-map", { at: "Oslo" })),
        ),
      )

    /** Reads the answer once to find the ends of its events, then cuts at each position in turn. */
    async function cutEverywhere(how: "error" | "end", use: (cutting: CuttingFetch) => Promise<void>) {
      plays()
      const cutting = (bytes: number) =>
        new CuttingFetch((url, init) => stage.face.fetch(new Request(url, init)), bytes, how)
      const whole = cutting(Number.POSITIVE_INFINITY)
      await use(whole)
      const { length } = whole.heard
      const ends = [...Buffer.from(whole.heard).toString("latin1").matchAll(/\n\n/g)].map(({ index }) => index + 2)
      const inside = Array.from({ length: Math.floor(length / STEP) }, (_, at) => 1 + at * STEP)
      const places = [...new Set([...ends, ...inside])].filter((at) => at < length)
      for (const bytes of places) {
        const one = cutting(bytes)
        await use(one)
        expect([bytes, one.isCut]).toEqual([bytes, true])
      }
      expect([ends.length > 15, places.length > 50]).toEqual([true, true])
      // Each script was requested twice, however often the client resumed.
      expect(stage.received).toHaveLength(2 * (1 + places.length))
    }

    test("useChat has the whole answer when it resumes, or resends a message that may not have arrived", async () => {
      const shapes = new Set<string>()
      let cut = 0
      await cutEverywhere("error", async (cutting) => {
        const chat: NodeChat = new NodeChat({
          transport: {
            ...ada.transport,
            fetch: cutting.fetch as typeof fetch,
            body: { agent: "test", tools: { map: { description: "Shows a place." } } },
          },
          sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
          onToolCall: ({ toolCall: { toolName, toolCallId } }) =>
            void chat.addToolOutput({ tool: toolName, toolCallId, output: { shown: true } }),
        })
        await chat.sendMessage({ text: "Where?" })
        if (cutting.isCut) {
          expect(chat.status).toBe("error")
          // Every second client returns only after the run has ended or paused.
          const id = chat.lastMessage?.metadata?.pawl.conversationId
          if (id !== undefined && cut++ % 2 === 0)
            await vi.waitFor(async () => {
              expect((await stage.native.get(`/api/conversations/${id}`)).body.status).not.toBe("running")
            })
          await (chat.lastMessage?.role === "user" ? chat.sendMessage() : chat.resumeStream())
        }
        expect([chat.status, chat.messages.length]).toEqual(["ready", 2])
        expect(chat.lastMessage!.metadata.pawl.status).toBe("completed")
        shapes.add(JSON.stringify(plain(chat.lastMessage!.parts)).replaceAll(/call_\w+/g, "call"))
      })
      expect([...shapes].map((shape) => JSON.parse(shape))).toMatchObject([
        [
          { type: "step-start" },
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "Look." },
          { type: "tool-map", state: "output-available", input: { at: "Oslo" }, output: { shown: true } },
          { type: "step-start" },
          { type: "text", text: REPLY },
        ],
      ])
    })

    test("AG-UI's client has the whole answer when it runs again with its messages, including its own results", async () => {
      const tools = [{ name: "map", description: "Shows a place.", parameters: { type: "object", properties: {} } }]
      const headers = ada.transport.headers!
      await cutEverywhere("end", async ({ fetch }) => {
        const agent: AgUiAgent = new HttpAgent({ url: "http://localhost/ag-ui/test", headers, fetch })
        let run = asks(agent, "Where?", { tools })
        for (let tries = 0; tries < 4; tries++) {
          const last = await run.then(
            (told) => told.last,
            () => undefined,
          )
          const waiting: string[] = last?.outcome?.pendingToolCallIds ?? []
          for (const toolCallId of waiting)
            agent.addMessage({ id: "shown", role: "tool", toolCallId, content: '{"shown":true}' })
          if (last?.type === "RUN_FINISHED" && waiting.length === 0) break
          run = runs(agent, { tools })
        }
        expect(shownOf(agent.messages)).toEqual([
          ["user", "Where?"],
          ["reasoning", "Hm."],
          ["assistant", "Look."],
          ["tool", '{"shown":true}'],
          ["assistant", REPLY],
        ])
      })
    })
  },
)
