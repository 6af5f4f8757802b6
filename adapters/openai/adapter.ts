import type { Hono } from "hono"
import { type Adapter, type Env, answerWithFile, serveRoute, type ServerPorts } from "../../core/adapter.ts"
import { routes } from "../../core/protocol/index.ts"

/** OpenAI's API. The first request of each kind loads its code. */
export const openAiAdapter: Adapter = {
  paths: ["/v1/*"],
  serve: serveOpenAi,
  toError: async (problem) => (await import("./errors.ts")).toOpenAiError(problem),
}

function serveOpenAi(app: Hono<Env>, ports: ServerPorts): void {
  serveRoute(app, routes.listOpenAiModels, async (c) => (await import("./answers.ts")).listModels(c, ports))

  serveRoute(app, routes.readOpenAiModel, async (c) => (await import("./answers.ts")).readModel(c, ports))

  serveRoute(app, routes.createChatCompletion, async (c, { body }) =>
    (await import("./answers.ts")).answerChat(c, ports, body),
  )

  serveRoute(app, routes.createResponse, async (c, { body }) =>
    (await import("./answers.ts")).answerResponse(c, ports, body),
  )

  serveRoute(app, routes.readResponse, async (c, { query }) =>
    (await import("./stored-responses.ts")).readStoredResponse(c, ports, query),
  )

  serveRoute(app, routes.listInputItems, async (c, { query }) =>
    (await import("./stored-responses.ts")).listInputItems(c, ports, query),
  )

  serveRoute(app, routes.deleteResponse, async (c) => (await import("./stored-responses.ts")).deleteResponse(c, ports))

  serveRoute(app, routes.cancelResponse, async (c) => (await import("./stored-responses.ts")).cancelResponse(c, ports))

  serveRoute(app, routes.uploadOpenAiFile, async (c) => (await import("./files.ts")).uploadOpenAiFile(c, ports))

  serveRoute(app, routes.listOpenAiFiles, async (c, { query }) =>
    (await import("./files.ts")).listOpenAiFiles(c, ports, query),
  )

  serveRoute(app, routes.readOpenAiFile, async (c) => (await import("./files.ts")).readOpenAiFile(c, ports))

  serveRoute(app, routes.readOpenAiFileContent, (c) => answerWithFile(c, ports.messageFiles))

  serveRoute(app, routes.deleteOpenAiFile, async (c) => (await import("./files.ts")).deleteOpenAiFile(c, ports))

  serveRoute(app, routes.createEmbeddings, async (c, { body }) =>
    (await import("./embeddings.ts")).createEmbeddings(c, ports, body),
  )

  const conversations = () => import("./conversations.ts")
  serveRoute(app, routes.createOpenAiConversation, async (c, { body }) =>
    (await conversations()).createOpenAiConversation(c, ports, body),
  )

  serveRoute(app, routes.readOpenAiConversation, async (c) => (await conversations()).readOpenAiConversation(c, ports))

  serveRoute(app, routes.changeOpenAiConversation, async (c, { body }) =>
    (await conversations()).changeOpenAiConversation(c, ports, body),
  )

  serveRoute(app, routes.deleteOpenAiConversation, async (c) =>
    (await conversations()).deleteOpenAiConversation(c, ports),
  )

  serveRoute(app, routes.listConversationItems, async (c, { query }) =>
    (await conversations()).listItems(c, ports, query),
  )

  serveRoute(app, routes.readConversationItem, async (c) => (await conversations()).readItem(c, ports))

  serveRoute(app, routes.createConversationItems, async (c) => (await conversations()).refuseNewItems(c, ports))

  serveRoute(app, routes.deleteConversationItem, async (c) => (await conversations()).refuseDeletion(c, ports))

  serveRoute(app, routes.countInputTokens, async (c, { body }) =>
    (await import("./compact.ts")).countInputTokens(c, ports, body),
  )

  serveRoute(app, routes.compactResponse, async (c, { body }) =>
    (await import("./compact.ts")).compactResponse(c, ports, body),
  )
}
