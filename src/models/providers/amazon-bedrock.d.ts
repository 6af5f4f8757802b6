/** What is used of it. Its own declarations name those of packages that come with it. */
declare module "@ai-sdk/amazon-bedrock" {
  import type { LanguageModelV4 } from "@ai-sdk/provider"

  export function createAmazonBedrock(options: {
    readonly apiKey: string
    readonly region: string
    readonly baseURL: string
    readonly credentialProvider: () => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string }>
    readonly fetch: typeof globalThis.fetch
  }): { languageModel(id: string): LanguageModelV4 }
}
