import { generateKeyPairSync, verify } from "node:crypto"
import { describe, expect, test } from "vitest"
import { ModelRegistry } from "../../registry.ts"
import { withServiceAccount } from "./google-sign-in.ts"
import { anyRequest, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"
import { type ModelSettings, providerSecrets } from "../settings.ts"

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
})
const ACCOUNT: ModelSettings = {
  vertexProject: "my-project",
  vertexLocation: "europe-west4",
  googleClientEmail: "pawl@my-project.iam.gserviceaccount.com",
  googlePrivateKeyId: "key-1",
  // As a variable has it.
  googlePrivateKey: privateKey.replaceAll("\n", "\\n"),
}

const answer = sse({ candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] })

type Answer = (request: { readonly url: string; readonly body: string; readonly headers: Headers }) => Response

/** The models of these settings, and what they asked for. */
function modelsWith(settings: ModelSettings, answerToken: Answer = () => Response.json({ access_token: "ya29.one" })) {
  const asked: { url: string; authorization: string | null; body: string }[] = []
  const statuses: number[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const [url, headers, body] = [String(input), new Headers(init?.headers), String(init?.body)]
    asked.push({ url, authorization: headers.get("authorization"), body })
    if (url.startsWith("https://oauth2.")) return answerToken({ url, headers, body })
    const status = statuses.shift() ?? 200
    return status === 200 ? new Response(answer) : Response.json({ error: { message: "no" } }, { status })
  }
  return { asked, statuses, registry: new ModelRegistry(settings, { fetch, retry: { retries: 0 } }) }
}

describe("a service account of Vertex", () => {
  test("signs in once with its key, and uses its project and location", async () => {
    const { asked, registry } = modelsWith(ACCOUNT)
    const model = await registry.get("vertex/gemini-3-pro")
    for (const _ of [1, 2]) expect(await collect(model)).toMatchObject([{ text: "Hi" }, { finish: "stop" }])
    const [signIn, ...questions] = asked
    expect(questions.map(({ url, authorization }) => [url, authorization])).toEqual(
      new Array(2).fill([
        "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
        "Bearer ya29.one",
      ]),
    )
    expect([signIn?.url, signIn?.authorization]).toEqual(["https://oauth2.googleapis.com/token", null])
    const form = new URLSearchParams(signIn?.body)
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer")
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".")
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, number>
    expect(read(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" })
    expect(read(claims)).toMatchObject({
      iss: ACCOUNT.googleClientEmail,
      aud: "https://oauth2.googleapis.com/token",
      scope: "https://www.googleapis.com/auth/cloud-platform",
    })
    expect(read(claims).exp! - read(claims).iat!).toBe(3600)
    const isSigned = verify(
      "sha256",
      Buffer.from(`${header}.${claims}`),
      publicKey,
      Buffer.from(signature, "base64url"),
    )
    expect(isSigned).toBe(true)
  })

  test("signs in again if its token is rejected or has expired", async () => {
    let tokens = 0
    const { asked, statuses, registry } = modelsWith(ACCOUNT, () =>
      Response.json({ access_token: `ya29.${++tokens}`, expires_in: tokens === 2 ? 60 : 3600 }),
    )
    const model = await registry.get("vertex/gemini-3-pro")
    statuses.push(401)
    await expect(collect(model)).rejects.toMatchObject({ code: "auth" })
    for (const _ of [1, 2]) await collect(model)
    const used = asked.flatMap(({ authorization }) => authorization ?? [])
    expect(used).toEqual(["Bearer ya29.1", "Bearer ya29.2", "Bearer ya29.3"])
  })

  test.each([
    [400, { error: "invalid_grant", error_description: "Invalid JWT Signature." }, "auth", "Invalid JWT Signature."],
    [503, {}, "overloaded", ""],
  ])(
    "that is answered with %i reports the reason, and is tried again the next time",
    async (status, body, code, said) => {
      const { asked, registry } = modelsWith(ACCOUNT, () => Response.json(body, { status }))
      const model = await registry.get("vertex/gemini-3-pro")
      for (const _ of [1, 2]) {
        const asking = collect(model)
        await expect(asking).rejects.toMatchObject({ code, message: expect.stringContaining(said) })
      }
      expect(asked.map(({ url }) => new URL(url).host)).toEqual(["oauth2.googleapis.com", "oauth2.googleapis.com"])
    },
  )

  test.each([
    ["with its lines", (pem: string) => pem],
    ["in one line", (pem: string) => pem.replaceAll("\n", "")],
  ])("may have its key %s", async (_, written) => {
    const settings = { ...ACCOUNT, googlePrivateKey: written(privateKey) }
    const { registry } = modelsWith(settings)
    expect(await collect(await registry.get("vertex/gemini-3-pro"))).toHaveLength(2)
    expect(providerSecrets(settings).join("")).toBe(privateKey.replaceAll(/-----.*-----|\n/g, ""))
  })

  test("with an unreadable key is reported, without the key", async () => {
    const googlePrivateKey = "-----BEGIN PRIVATE KEY-----\nMIIEsecretsecretsecret\n-----END PRIVATE KEY-----"
    const { asked, registry } = modelsWith({ ...ACCOUNT, googlePrivateKey })
    const asking = collect(await registry.get("vertex/gemini-3-pro"))
    await expect(asking).rejects.toMatchObject({ code: "auth", message: expect.not.stringContaining("MIIE") })
    expect(asked).toEqual([])
    // Its first line stands above every key, and would be hidden wherever it does.
    expect(providerSecrets({ googlePrivateKey })).toEqual(["MIIEsecretsecretsecret"])
    expect(providerSecrets(ACCOUNT).join("")).not.toContain("BEGIN")
  })

  test.each([
    ["global", "gemini-3-pro", "aiplatform.googleapis.com", "/publishers/google/models/gemini-3-pro:stream"],
    ["eu", "gemini-3-pro", "aiplatform.eu.rep.googleapis.com", "/publishers/google/models/gemini-3-pro:stream"],
    ["us-east5", "endpoints/42", "us-east5-aiplatform.googleapis.com", "/locations/us-east5/endpoints/42:stream"],
  ])("in %s has %s at %s", async (vertexLocation, id, host, path) => {
    const { asked, registry } = modelsWith({ ...ACCOUNT, vertexLocation })
    await collect(await registry.get(`vertex/${id}`))
    expect(new URL(asked[1]?.url ?? "").host).toBe(host)
    expect(asked[1]?.url).toContain(path)
  })
})

describe("a token that several wait for", () => {
  test("is not lost to the others if the first of them is aborted", async () => {
    const token = Promise.withResolvers<Response>()
    const signals: (AbortSignal | null | undefined)[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (!String(input).startsWith("https://oauth2.")) return new Response("fine")
      signals.push(init?.signal)
      return Promise.race([
        token.promise,
        new Promise<never>((_, reject) => init?.signal?.addEventListener("abort", reject)),
      ])
    }
    const account = { clientEmail: "a@b", privateKey }
    const signedIn = withServiceAccount(fetch, account)
    const first = new AbortController()
    const asking = [
      signedIn("https://x/1", { signal: first.signal }),
      signedIn("https://x/2", { signal: AbortSignal.any([]) }),
    ]
    first.abort(new Error("stopped"))
    await expect(asking[0]).rejects.toThrow("stopped")
    token.resolve(Response.json({ access_token: "ya29.one" }))
    expect(await (await asking[1])?.text()).toBe("fine")
    expect(signals).toHaveLength(1)
  })

  test("is not read from an answer without end", async () => {
    let sent = 0
    const { registry } = modelsWith(ACCOUNT, () => {
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if ((sent += 10_000) > 10_000_000) controller.close()
        else controller.enqueue(new Uint8Array(10_000).fill(32))
      }
      return new Response(new ReadableStream({ pull }))
    })
    await expect(collect(await registry.get("vertex/gemini-3-pro"))).rejects.toThrow("without a token")
    expect(sent).toBeLessThan(200_000)
  })
})

describe("an id that would send the operator's key to another address", () => {
  const settings = { ...ACCOUNT, geminiApiKey: "AIza-key", bedrockApiKey: "bedrock-key", awsRegion: "eu-central-1" }
  const { asked, registry } = modelsWith(settings)

  test.each([
    "vertex/claude-/../../../x:rawPredict?x=",
    "vertex/endpoints/../../x",
    "google/../v1beta/cachedContents?x=/",
    "google/models/..",
    "google/models/./x",
    "google/a/.../b",
    "google//evil.example/x",
    "google/gemini?x=",
    "google/gemini#x",
    "google/%2e%2e/x",
    "google/a%2f..%2fb",
    "google/..\\x",
    "google/a b",
    "google/a\nb",
    "google/a/",
    "bedrock/..",
  ])("is not a model name: %j", async (name) => {
    await expect(registry.get(name)).rejects.toMatchObject({ code: "unknown_model" })
    expect(asked).toEqual([])
  })

  test.each([
    "google/tunedModels/mine-1",
    "vertex/claude-sonnet-4@20250514",
    "bedrock/arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-v1:0",
    "vertex/publishers/meta/models/llama-4..maas",
  ])("is not %s", async (name) => {
    expect((await registry.get(name)).name).toBe(name)
  })
})

test("a Claude on Vertex uses its own format and address", async () => {
  const { asked, registry } = modelsWith(ACCOUNT)
  await collect(await registry.get("vertex/claude-sonnet-5-5")).catch(() => {})
  expect(asked[1]?.url).toBe(
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict",
  )
  const body = JSON.parse(asked[1]?.body ?? "{}") as object
  expect(body).toMatchObject({ anthropic_version: "vertex-2023-10-16", stream: true })
  expect(body).not.toHaveProperty("model")
})

test("a key of the express mode is used without a project, and not as a bearer token", async () => {
  await using server = await ProviderServer.open((response) => streamHead(response).end(answer))
  const settings = { vertexApiKey: "AIza-key", vertexBaseUrl: server.url }
  const model = await new ModelRegistry(settings).get("vertex/gemini-3-pro")
  expect(await collect(model, anyRequest)).toMatchObject([{ text: "Hi" }, { finish: "stop" }])
  const [{ path, headers } = {} as never] = server.received
  expect(path).toBe("/v1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse")
  expect([headers["x-goog-api-key"], headers.authorization]).toEqual(["AIza-key", undefined])
})

test.each([
  [{}, "set GOOGLE_VERTEX_API_KEY, or GOOGLE_VERTEX_PROJECT and GOOGLE_VERTEX_LOCATION and"],
  [{ vertexProject: "p" }, "set GOOGLE_VERTEX_LOCATION"],
  [{ ...ACCOUNT, googlePrivateKey: undefined }, "set GOOGLE_PRIVATE_KEY"],
  [{ ...ACCOUNT, vertexLocation: "evil.example/" }, "GOOGLE_VERTEX_LOCATION must be"],
  [{ ...ACCOUNT, vertexProject: "p/../../q" }, "GOOGLE_VERTEX_PROJECT must be"],
  [{ ...ACCOUNT, googlePrivateKey: "no-key" }, "GOOGLE_PRIVATE_KEY must be a private key"],
])("a missing setting of Vertex is reported by its variable (%#)", (settings, need) => {
  expect(new ModelRegistry(settings as ModelSettings).needOf("vertex")).toContain(need)
})
