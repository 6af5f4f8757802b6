import { ChatCompletion, ChatCompletionRequest, OpenAiModels } from "../openai.ts"
import { ResponseAnswered, ResponseRequest } from "../openai-responses.ts"
import { defineRoutes } from "./route.ts"

/** For programs that were written for OpenAI's API: the same conversations, in its words (docs/openai.md). */
export const openAiRoutes = defineRoutes({
  listOpenAiModels: {
    method: "GET",
    path: "/v1/models",
    needs: "read",
    says: "OpenAI dialect: the agents as models, each also with every model that it can be asked with.",
    answers: { 200: OpenAiModels },
    errors: "openai",
  },
  createChatCompletion: {
    method: "POST",
    path: "/v1/chat/completions",
    needs: "chat",
    says: "OpenAI dialect: an agent answers the last message, whole or, with `stream`, as data lines to `[DONE]`.",
    body: ChatCompletionRequest,
    answers: { 200: ChatCompletion },
    errors: "openai",
  },
  createResponse: {
    method: "POST",
    path: "/v1/responses",
    needs: "chat",
    says: "OpenAI dialect: the same as a response, which goes on with `previous_response_id` or `conversation`.",
    body: ResponseRequest,
    answers: { 200: ResponseAnswered },
    errors: "openai",
  },
})
