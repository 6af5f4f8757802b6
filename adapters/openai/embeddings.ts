import type { Context } from "hono"
import {
  type EmbeddingRequest,
  embedTexts,
  type Env,
  estimateTokens,
  type OpenAiEmbeddings,
  type ServerPorts,
} from "../../core/adapter.ts"
import { failure } from "../../core/protocol/index.ts"
import { problem } from "./content.ts"

/** The vectors of texts, from the embedder that also serves the search. It is a model of its own name. */
export async function createEmbeddings(
  c: Context<Env>,
  { embedder }: Pick<ServerPorts, "embedder">,
  { model, input, encoding_format: format, dimensions, user }: EmbeddingRequest,
): Promise<OpenAiEmbeddings> {
  if (embedder.dimensions === 0) throw problem("model: this server has no embedder; set OPENAI_API_KEY to get one")
  if (model !== embedder.name) throw failure("unknown_model", { name: model.slice(0, 200), choices: embedder.name })
  if (dimensions && dimensions !== embedder.dimensions)
    throw problem(`dimensions: vectors of ${embedder.name} have ${embedder.dimensions}; omit it`)
  if (user !== undefined) c.header("x-pawl-ignored", "user")
  const texts = typeof input === "string" ? [input] : input
  const vectors = await embedTexts(c, embedder, texts)
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  return {
    ...{ object: "list", model },
    data: vectors.map((vector, index) => ({
      ...{ object: "embedding", index },
      embedding: format === "base64" ? toBase64(vector) : [...vector],
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString("base64")
}
