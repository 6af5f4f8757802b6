import { ChatCompletion, ChatCompletionRequest, OpenAiModels } from "../../dialects/openai.ts"
import {
  InputItems,
  InputItemsQuery,
  ResponseAnswered,
  ResponseDeleted,
  ResponseQuery,
  ResponseRequest,
} from "../../dialects/openai-responses.ts"
import { defineRoutes } from "../route.ts"

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
  readResponse: {
    method: "GET",
    path: "/v1/responses/{id}",
    needs: "read",
    says: "OpenAI dialect: a response as it stands; with `stream`, its events, also from behind `starting_after`.",
    query: ResponseQuery,
    answers: { 200: ResponseAnswered },
    errors: "openai",
  },
  deleteResponse: {
    method: "DELETE",
    path: "/v1/responses/{id}",
    needs: "manage",
    says: "OpenAI dialect: erases a response with its conversation, where nothing else was said in it.",
    answers: { 200: ResponseDeleted },
    errors: "openai",
  },
  listInputItems: {
    method: "GET",
    path: "/v1/responses/{id}/input_items",
    needs: "read",
    says: "OpenAI dialect: what a response was given: words, or results of functions.",
    query: InputItemsQuery,
    answers: { 200: InputItems },
    errors: "openai",
  },
  cancelResponse: {
    method: "POST",
    path: "/v1/responses/{id}/cancel",
    needs: "chat",
    says: "OpenAI dialect: stops a response that is being made or waits; one that is over stays as it is.",
    answers: { 200: ResponseAnswered },
    errors: "openai",
  },
})
