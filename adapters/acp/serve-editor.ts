import {
  type AgentApp,
  agent,
  type ClientCapabilities,
  type Implementation,
  MessageTooLargeError,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionOutcome,
} from "@agentclientprotocol/sdk"
import { Mode } from "../../core/protocol/schema.ts"
import { commandIn } from "./commands.ts"
import { EditorConversations, modesIn } from "./conversations.ts"
import type { ConnectedEditor, EditorAbilities, EditorPlaces } from "./editor.ts"
import { toPromptContent } from "./prompt-content.ts"
import { isUnknown, refuseRequest, toRefusal } from "./refusal.ts"

/** How long to wait for an editor to read or write a file. */
const EDITOR_MS = 10_000

interface EditorOptions {
  readonly input: ReadableStream<Uint8Array>
  readonly output: WritableStream<Uint8Array>
  readonly places: EditorPlaces
  /** The folder that is listed if the editor names none. */
  readonly folder: string
  readonly info: Implementation
  /** Ends the connection. */
  readonly signal: AbortSignal
  /** Reports an internal error: the editor gets a sentence, and someone must investigate. */
  failed(error: unknown): void
}

/** Serves the Agent Client Protocol to one editor until it disconnects. Rejects if its input cannot be parsed. */
export async function serveEditor(options: EditorOptions): Promise<void> {
  const { input, output, places, folder, info, signal, failed } = options
  const app = agent({ name: info.name })
  let can = abilitiesOf({})
  const editor: ConnectedEditor = {
    get can() {
      return can
    },
    get isGone() {
      return connection.signal.aborted
    },
    update: (sessionId, update) => connection.client.notify("session/update", { sessionId, update }),
    async ask(request, withdrawn): Promise<RequestPermissionOutcome> {
      const how = { cancellationSignal: withdrawn, stopWaitingOnCancel: true }
      return (await connection.client.request("session/request_permission", request, how)).outcome
    },
    async readFile(sessionId, path) {
      const how = { cancellationSignal: AbortSignal.timeout(EDITOR_MS), stopWaitingOnCancel: true }
      const pending = connection.client.request("fs/read_text_file", { sessionId, path }, how)
      // The file is not open, or the editor refuses: use the disk.
      return pending.then(({ content }) => content).catch(() => undefined)
    },
    async writeFile(sessionId, path, content) {
      const signal = AbortSignal.timeout(EDITOR_MS)
      const how = { cancellationSignal: signal, stopWaitingOnCancel: true }
      try {
        await connection.client.request("fs/write_text_file", { sessionId, path, content }, how)
        return undefined
      } catch (error) {
        if (signal.aborted || connection.signal.aborted) throw error
        return (error as Error).message
      }
    },
  }
  const conversations = new EditorConversations(places, editor, folder)
  answerRequests(app, conversations, {
    info,
    failed,
    takesServers: places.takesServers,
    meet: (capabilities) => (can = abilitiesOf(capabilities)),
  })
  const connection = app.connect(ndJsonStream(output, input))
  const stop = () => connection.close()
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  await connection.closed
  conversations.closeAll()
  const { reason } = connection.signal
  if (reason instanceof MessageTooLargeError) throw reason
}

interface Meeting {
  readonly info: Implementation
  readonly takesServers: boolean
  failed(error: unknown): void
  meet(capabilities: ClientCapabilities): void
}

function answerRequests(
  app: AgentApp,
  conversations: EditorConversations,
  { info, takesServers, failed, meet }: Meeting,
): void {
  app
    .onRequest("initialize", ({ params }) => {
      meet(params.clientCapabilities ?? {})
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: info,
        authMethods: [],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: takesServers, sse: false },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        },
      }
    })
    .onRequest("authenticate", () => {
      throw refuseRequest("Pawl needs no sign-in here. With --server, set PAWL_TOKEN.")
    })
    .onRequest("session/new", ({ params: { cwd, mcpServers, additionalDirectories } }) =>
      answer(async () => {
        requireOneFolder(additionalDirectories)
        const conversation = await conversations.begin(cwd, mcpServers)
        return { sessionId: conversation.id, modes: modesIn(conversation) }
      }),
    )
    .onRequest("session/load", ({ params: { sessionId: id, cwd: folder, mcpServers: servers, ...more } }) =>
      answer(async () => {
        requireOneFolder(more.additionalDirectories)
        return { modes: modesIn(await conversations.goOn({ id, folder, servers, tells: "all" })) }
      }),
    )
    .onRequest("session/resume", ({ params: { sessionId: id, cwd: folder, mcpServers: servers = [], ...more } }) =>
      answer(async () => {
        requireOneFolder(more.additionalDirectories)
        return { modes: modesIn(await conversations.goOn({ id, folder, servers, tells: "nothing" })) }
      }),
    )
    .onRequest("session/list", ({ params: { cwd, cursor } }) =>
      answer(() => conversations.list(cwd ?? undefined, cursor ?? undefined)),
    )
    .onRequest("session/close", ({ params: { sessionId } }) => answer(() => conversations.close(sessionId)))
    .onRequest("session/delete", ({ params: { sessionId } }) => answer(() => conversations.remove(sessionId)))
    .onRequest("session/set_mode", ({ params: { sessionId, modeId } }) =>
      answer(async () => {
        const mode = Mode.safeParse(modeId)
        if (!mode.success) throw refuseRequest(`A mode is one of ${Mode.options.join(", ")}.`)
        await conversations.setMode(sessionId, mode.data)
        return {}
      }),
    )
    .onRequest("session/set_config_option", ({ params: { sessionId, configId, value } }) =>
      answer(async () => ({ configOptions: await conversations.setOption(sessionId, configId, value) })),
    )
    .onRequest("session/prompt", ({ params: { sessionId, prompt }, signal }) =>
      answer(async () => {
        const conversation = conversations.get(sessionId)
        const content = toPromptContent(prompt, conversation.place.dir)
        const command = commandIn(content.text)
        return command ? command(conversation, signal) : conversation.prompt(content, signal)
      }),
    )
    .onNotification("session/cancel", async ({ params: { sessionId } }) => {
      // A notification has no answer; a turn that cannot be cancelled fails by itself.
      await answer(() => conversations.get(sessionId).cancel()).catch(() => {})
    })

  /** Converts every error. */
  async function answer<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      if (isUnknown(error)) failed(error)
      throw toRefusal(error)
    }
  }
}

/** Refused, because tools cannot read or write outside the one folder. */
function requireOneFolder(more: readonly string[] = []): void {
  if (more.length > 0) throw refuseRequest("Pawl works in one folder: it takes no additional directories.")
}

const abilitiesOf = ({ session, fs }: ClientCapabilities): EditorAbilities => ({
  notices: Boolean(session?.notices),
  readsFiles: fs?.readTextFile ?? false,
  writesFiles: fs?.writeTextFile ?? false,
})
