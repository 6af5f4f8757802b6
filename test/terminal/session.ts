import { type ClientOptions, createClient } from "../../client/index.ts"
import { scripted, type ScriptedModel, type ScriptedReply } from "../../core/models/scripted/model.ts"
import { lineText } from "../../apps/terminal/line.ts"
import { TerminalSession } from "../../apps/terminal/session/terminal-session.ts"
import { Face, type FaceOptions } from "../support/server/face.ts"

type Fetch = (request: Request) => Promise<Response>

/** Lets a test interrupt the connection between a terminal and its server. */
export interface TalkLine {
  through: (request: Request, next: Fetch) => Promise<Response>
}

/** A terminal whose model gives these answers. */
export async function openSession(url: string, ...script: readonly ScriptedReply[]) {
  return connectSessions(url, scripted(...script))
}

/** The same with a model, and others that may be chosen. */
export async function connectSessions(
  url: string,
  model: ScriptedModel,
  { others = [], tools = [] }: Pick<FaceOptions, "others" | "tools"> = {},
) {
  const face = await Face.open({ url, model, others, tools, agent: {} })
  const ada = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(ada, ["read", "chat", "approve"], Date.now())
  const line: TalkLine = { through: (request, next) => next(request) }
  const fetch: ClientOptions["fetch"] = (input, init) =>
    line.through(new Request(input, init), async (request) => face.fetch(request))
  const client = createClient({ baseUrl: "http://localhost", token, fetch: fetch as typeof globalThis.fetch })
  const server = {
    ...{ client, where: "", warnings: [], reflow: "breaks" as const, historyFile: "", defaults: { agent: "test" } },
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const open = () => new TerminalSession(server, { mode: "confirm" }, () => {})
  const talks: TerminalSession[] = []
  const begin = () => talks[talks.push(open()) - 1] as TerminalSession
  return {
    begin,
    line,
    model,
    async [Symbol.asyncDispose]() {
      for (const session of talks) session.conversation?.close()
      await face[Symbol.asyncDispose]()
    },
  }
}

/** The text of the scrollback. */
export const printed = (session: TerminalSession) => {
  session.settle(200)
  return session.scrollback.entries.flatMap(({ lines }) => lines.map(lineText)).filter((line) => line !== "")
}

/** The text that is drawn below the scrollback. */
export const drawn = (session: TerminalSession) => session.body({ columns: 200, rows: 50 }).map(lineText)
