import { withReplyLimit, withThinkingInBounds } from "../request/messages-body.ts"
import { isHostLabel, splitQuery, toAddress, withQuery } from "../endpoints/endpoint.ts"
import type { Connect, Lack, ProviderConnection } from "../connect.ts"

const EXPRESS = "https://aiplatform.googleapis.com"
const EXPRESS_PATH = "/v1/publishers/google"

/** A project with its service account. */
export const vertexSettings = {
  project: { field: "vertexProject", variable: "GOOGLE_VERTEX_PROJECT", says: "The id of a project." },
  location: {
    field: "vertexLocation",
    variable: "GOOGLE_VERTEX_LOCATION",
    says: "Where Vertex is asked, such as `europe-west4`, or `global`.",
  },
  clientEmail: {
    field: "googleClientEmail",
    variable: "GOOGLE_CLIENT_EMAIL",
    says: "The service account that signs in.",
  },
  privateKey: {
    field: "googlePrivateKey",
    variable: "GOOGLE_PRIVATE_KEY",
    says: "Its private key, as its JSON file has it.",
    isSecret: true,
  },
  privateKeyId: {
    field: "googlePrivateKeyId",
    variable: "GOOGLE_PRIVATE_KEY_ID",
    says: "The id of that key. Google finds it without, too.",
  },
} as const

/** With a key of the express mode, or as a service account of a project. */
export const connectVertex: Connect = ({ apiKey, baseUrl: given, more = {} }) => {
  if (apiKey) {
    const baseUrl = toAddress(given ?? EXPRESS, EXPRESS_PATH)
    if (!baseUrl) return { notAnAddress: "baseUrl" }
    const key = { "x-goog-api-key": apiKey }
    return connection({ gemini: () => baseUrl, headers: key, signedIn: async (fetch) => fetch })
  }
  return connectProject(given, more)
}

function connectProject(given: string | undefined, more: Readonly<Record<string, string | undefined>>) {
  const { project, location, clientEmail, privateKey, privateKeyId } = more
  if (!clientEmail && !privateKey && !project) return { lacks: "apiKey", or: ["project", ...ACCOUNT] } satisfies Lack
  for (const name of ["project", ...ACCOUNT]) if (!more[name]) return { lacks: name } satisfies Lack
  if (!project || !location || !clientEmail || !privateKey) return { lacks: "apiKey" } satisfies Lack
  if (!/^[\w.:-]{1,100}$/.test(project)) return { wrong: "project", mustBe: "the id of a project" } satisfies Lack
  if (!isHostLabel(location)) return { wrong: "location", mustBe: "one such as europe-west4, or global" } satisfies Lack
  if (!/-----BEGIN (RSA )?PRIVATE KEY-----/.test(privateKey))
    return { wrong: "privateKey", mustBe: "a private key as the JSON file of a service account has it" } satisfies Lack
  const place = `/projects/${project}/locations/${location}`
  const usual = `https://${hostOf(location)}`
  const under = (version: string) => toAddress(given ?? usual, `/${version}${place}`)
  const [beta, stable] = [under("v1beta1"), under("v1")]
  if (!beta || !stable) return { notAnAddress: "baseUrl" } satisfies Lack
  return connection({
    // Tuned models are not below the publishers.
    gemini: (id) => (id.startsWith("endpoints/") ? beta : within(beta, "/publishers/google")),
    claude: within(stable, "/publishers/anthropic/models"),
    headers: {},
    listPrice: given === undefined && location === "global",
    async signedIn(fetch) {
      const { withServiceAccount } = await import("./google-sign-in.ts")
      return withServiceAccount(fetch, { clientEmail, privateKey, privateKeyId })
    },
  })
}

const ACCOUNT = ["location", "clientEmail", "privateKey"]

interface VertexAddresses {
  /** Google's own address, and no region, because regions charge more for some models. */
  readonly listPrice?: boolean
  /** The address of a Google model. */
  gemini(id: string): string
  /** The address of Anthropic's models, which use their own format. */
  readonly claude?: string
  readonly headers: Readonly<Record<string, string>>
  signedIn(fetch: typeof globalThis.fetch): Promise<typeof globalThis.fetch>
}

function connection({ gemini, claude, headers, signedIn, listPrice = false }: VertexAddresses): ProviderConnection {
  const isClaude = (id: string) => claude !== undefined && id.startsWith("claude-")
  return {
    listPrice,
    ofModel: (id) => (isClaude(id) ? { dialect: "messages", marksCache: true } : { dialect: "gemini" }),
    async open(id, given) {
      const fetch = await signedIn(given)
      if (claude !== undefined && isClaude(id)) return openClaude(id, claude, fetch)
      const { GoogleLanguageModel } = await import("@ai-sdk/google/internal")
      const { base, query } = splitQuery(gemini(id))
      return new GoogleLanguageModel(id, {
        // Tells the adapter to use the features of Vertex.
        provider: "google.vertex.chat",
        ...{ baseURL: base, headers, generateId: () => crypto.randomUUID(), fetch: withQuery(fetch, query) },
      })
    },
  }
}

async function openClaude(id: string, address: string, fetch: typeof globalThis.fetch) {
  const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal")
  const { base, query } = splitQuery(address)
  return withReplyLimit(
    (most) =>
      new AnthropicLanguageModel(id, {
        ...{ provider: "vertex.anthropic.messages", baseURL: base, headers: {}, fetch: withQuery(fetch, query) },
        buildRequestUrl: (baseURL, isStreaming) =>
          `${baseURL}/${id}:${isStreaming ? "streamRawPredict" : "rawPredict"}`,
        transformRequestBody: ({ model: _, ...body }) => ({
          ...withThinkingInBounds(body, most),
          anthropic_version: "vertex-2023-10-16",
        }),
      }),
  )
}

function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com"
  // Multi-region endpoints.
  if (location === "eu" || location === "us") return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** Appends a path before the query. */
function within(address: string, path: string): string {
  const { base, query } = splitQuery(address)
  return `${base}${path}${query}`
}
