import { isHostLabel, toAddress } from "../endpoints/endpoint.ts"
import type { Connect } from "../connect.ts"
import type { Quirks } from "../quirks.ts"

/** Rejects blank texts and duplicate names, and has no tool choice `none`. */
const QUIRKS: Quirks = { refusesBlanks: true, callsAtWill: true, numbersFiles: true }

/**
 * Claude models with cache points. Other models reject requests with one. By Amazon's guide (*prompt-caching*), and for
 * the newest by experience. Amazon's own Nova caches by itself, and rejects points after results.
 */
const KNOWS_POINTS = /anthropic\.claude-(?:3-5-haiku|3-7-sonnet|(?:opus|sonnet|haiku)-4|fable-5)(?!\d)/

/** Claude models with adaptive thinking that still accept a token budget; later ones reject it. */
const TAKES_BUDGET = /claude-(?:opus|sonnet)-4-6/

const isClaude = (id: string): boolean => id.includes("anthropic.claude-")

const SUFFIXES: readonly (readonly [region: string, suffix: string])[] = [
  ["cn-", "amazonaws.com.cn"],
  ["eusc-", "amazonaws.eu"],
]

/** The credentials of an account, as all AWS programs read them. */
export const bedrockSettings = {
  region: {
    field: "awsRegion",
    variable: "AWS_REGION",
    says: "Where Bedrock is asked, such as `eu-central-1`.",
  },
  accessKeyId: {
    field: "awsAccessKeyId",
    variable: "AWS_ACCESS_KEY_ID",
    says: "The id of a key of an AWS account.",
    onlyWith: "PAWL_BEDROCK",
  },
  secretAccessKey: {
    field: "awsSecretAccessKey",
    variable: "AWS_SECRET_ACCESS_KEY",
    says: "The key itself, by which each request is signed.",
    isSecret: true,
    onlyWith: "PAWL_BEDROCK",
  },
  sessionToken: {
    field: "awsSessionToken",
    variable: "AWS_SESSION_TOKEN",
    says: "What belongs to a key that was given for a while.",
    isSecret: true,
    onlyWith: "PAWL_BEDROCK",
  },
} as const

/** With a Bedrock key, or with an account's credentials, which sign each request. */
export const connectBedrock: Connect = ({ apiKey, baseUrl: given, more = {} }) => {
  const { accessKeyId, secretAccessKey, sessionToken, region } = more
  if (!apiKey && !accessKeyId) return { lacks: "apiKey", or: ["accessKeyId", "secretAccessKey"] }
  if (!apiKey && !secretAccessKey) return { lacks: "secretAccessKey" }
  if (region === undefined && (given === undefined || !apiKey)) return { lacks: "region" }
  if (region !== undefined && !isHostLabel(region)) return { wrong: "region", mustBe: "one such as eu-central-1" }
  const baseURL = toAddress(given ?? usualAddress(region ?? ""))
  if (!baseURL) return { notAnAddress: "baseUrl" }
  // A query would have to be signed, too.
  if (baseURL.includes("?")) return { wrong: "baseUrl", mustBe: "an address without ?" }
  return {
    // The region does not affect the price, which depends on the model's id.
    listPrice: given === undefined,
    inFrames: true,
    quirks: QUIRKS,
    ofModel: (id) => (isClaude(id) ? { dialect: "converse", marksCache: KNOWS_POINTS.test(id) } : {}),
    async open(id, fetch) {
      const [{ createAmazonBedrock }, { framedFetch }] = await Promise.all([
        import("@ai-sdk/amazon-bedrock"),
        import("../stream/event-frames.ts"),
      ])
      const model = createAmazonBedrock({
        // All fields, also empty ones: the adapter reads missing ones from the environment, which would be the
        // operator's credentials.
        ...{ apiKey: apiKey ?? "", region: region ?? "", baseURL },
        credentialProvider: async () => ({
          ...{ accessKeyId: accessKeyId ?? "", secretAccessKey: secretAccessKey ?? "" },
          ...(sessionToken ? { sessionToken } : {}),
        }),
        fetch: framedFetch(fetch),
      }).languageModel(id)
      if (!isClaude(id)) return model
      const [{ getModelCapabilities }, { withThinkingInConverse }] = await Promise.all([
        import("@ai-sdk/anthropic/internal"),
        import("../request/converse-call.ts"),
      ])
      return withThinkingInConverse(model, { ...getModelCapabilities(id), takesBudget: TAKES_BUDGET.test(id) })
    },
  }
}

function usualAddress(region: string): string {
  const suffix = SUFFIXES.find(([start]) => region.startsWith(start))?.[1] ?? "amazonaws.com"
  return `https://bedrock-runtime.${region}.${suffix}`
}
