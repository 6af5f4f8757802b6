import { z } from "zod"
import { ExportLine } from "../account/export.ts"
import {
  AuthorizationRequest,
  AuthorizationServer,
  ClientDocument,
  ClientRegistration,
  Consent,
  ConsentResult,
  ConsentQuestion,
  CreatedToken,
  DeviceRequest,
  Identity,
  IssuerAnswer,
  IssuerSignInStarted,
  ListedSession,
  NewToken,
  OAuthRefusal,
  ProtectedResource,
  RegisteredClient,
  SignedIn,
  SignIn,
  SignInWays,
  Ticket,
  TokenGranted,
  TokenView,
} from "../account/sign-in.ts"
import { type StorageKind, storageKinds } from "../account/storage.ts"
import { pageOf } from "../answers.ts"
import { PageQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** A device that is connected now. */
const DeviceView = z.object({
  deviceId: z.string(),
  ledger: z.boolean(),
  offers: z.array(z.string()),
  connectedAt: z.string(),
})
type DeviceView = z.infer<typeof DeviceView>

/** Devices and the socket that they, and pages, are connected by. */
export const deviceRoutes = defineRoutes({
  openSocket: {
    method: "GET",
    path: "/api/ws",
    needs: "read",
    says: "Opens a WebSocket for conversations, their events and devices. Its frames are described in docs/reference/socket.md.",
    answers: { 101: null },
  },
  listDevices: {
    method: "GET",
    path: "/api/devices",
    needs: "read",
    says: "Lists your connected devices, newest first.",
    answers: { 200: pageOf(DeviceView) },
  },
  listDeviceRequests: {
    method: "GET",
    path: "/api/devices/requests",
    needs: "read",
    says: "Lists requests of your tokens to register a device that belongs to another token, newest first.",
    answers: { 200: pageOf(DeviceRequest) },
  },
  allowDeviceRequest: {
    method: "POST",
    path: "/api/devices/requests/{id}/allow",
    needs: "manage",
    says: "Lets the requesting token be the device. The previous token is notified and receives no more calls. A token cannot approve its own request.",
    answers: { 204: null },
  },
  refuseDeviceRequest: {
    method: "DELETE",
    path: "/api/devices/requests/{id}",
    needs: "manage",
    says: "Rejects a token's request to register a device.",
    answers: { 204: null },
  },
})

/** For programs that sign in by themselves, as hosted MCP clients do (docs/reference/mcp-endpoint.md). */
export const oauthRoutes = defineRoutes({
  readProtectedResource: {
    method: "GET",
    path: "/.well-known/oauth-protected-resource",
    needs: "nobody",
    says: "OAuth: describes `/mcp` and its authorization server (RFC 9728).",
    answers: { 200: ProtectedResource },
  },
  readProtectedMcp: {
    method: "GET",
    path: "/.well-known/oauth-protected-resource/mcp",
    needs: "nobody",
    says: "OAuth: the same, at the address that clients derive from that of `/mcp`.",
    answers: { 200: ProtectedResource },
  },
  readAuthorizationServer: {
    method: "GET",
    path: "/.well-known/oauth-authorization-server",
    needs: "nobody",
    says: "OAuth: the authorization and token endpoints (RFC 8414).",
    answers: { 200: AuthorizationServer },
  },
  registerClient: {
    method: "POST",
    path: "/oauth/register",
    needs: "nobody",
    says: "OAuth: registers a client's name and redirect addresses (RFC 7591). Nothing is stored.",
    body: ClientRegistration,
    answers: { 201: RegisteredClient, 400: OAuthRefusal },
  },
  exchangeCode: {
    method: "POST",
    path: "/oauth/token",
    needs: "nobody",
    says: "OAuth: exchanges an authorization code for a token of the user who gave consent. A code is valid once.",
    takes: ["application/x-www-form-urlencoded"],
    answers: { 200: TokenGranted, 400: OAuthRefusal },
  },
  readMcpClient: {
    method: "GET",
    path: "/mcp-sign-in/client.json",
    needs: "nobody",
    says: "OAuth: this server's client metadata document, for signing users in to MCP servers.",
    answers: { 200: ClientDocument },
  },
  readConsent: {
    method: "GET",
    path: "/api/oauth/consent",
    needs: "manage",
    says: "OAuth: what a program asks the signed-in user for.",
    query: AuthorizationRequest,
    answers: { 200: ConsentQuestion },
  },
  giveConsent: {
    method: "POST",
    path: "/api/oauth/consent",
    needs: "manage",
    says: "OAuth: the user's consent or refusal, and the address to send the browser to. Needs a signed-in browser.",
    body: Consent,
    answers: { 200: ConsentResult },
  },
})

/** A user's storage use, largest first. */
const kind = z.enum(Object.keys(storageKinds) as [StorageKind, ...StorageKind[]])

const StorageAnswer = z.object({
  bytes: z.number().int(),
  limitBytes: z.number().int(),
  kinds: z.array(z.object({ kind, bytes: z.number().int() })),
})

/** Export and deletion of a user's data. */
export const retentionRoutes = defineRoutes({
  readStorage: {
    method: "GET",
    path: "/api/storage",
    needs: "read",
    says: "Returns how many bytes you store, your limit, and what uses them. Requests over the limit fail with storage_full.",
    answers: { 200: StorageAnswer },
  },
  deleteConversation: {
    method: "DELETE",
    path: "/api/conversations/{id}",
    needs: "manage",
    says: "Stops active runs and deletes the conversation with all its data. This cannot be undone.",
    answers: { 204: null },
  },
  deleteMe: {
    method: "DELETE",
    path: "/api/me",
    needs: "manage",
    says: "Deletes your account: conversations, tasks, tokens, everything. Also needs the scope chat. This cannot be undone.",
    answers: { 204: null },
  },
  exportAll: {
    method: "GET",
    path: "/api/export",
    needs: "manage",
    says: "Exports all your data as JSON lines, each with its kind; the last line has the kind end. Secrets are not included.",
    answers: { 200: ExportLine },
    media: "application/x-ndjson",
  },
})

/** Sign-in and sessions of browsers. */
export const signInRoutes = defineRoutes({
  signIn: {
    method: "POST",
    path: "/api/auth/sign-in",
    needs: "nobody",
    says: "Uses a sign-in link and starts a session: sets the session cookie, and returns the secret that the page sends with it.",
    body: SignIn,
    answers: { 200: SignedIn },
  },
  readSignInWays: {
    method: "GET",
    path: "/api/auth/ways",
    needs: "nobody",
    says: "Returns the other ways to sign in: the name of the identity provider, if there is one (docs/recipes/sign-in-with-openid-connect.md).",
    answers: { 200: SignInWays },
  },
  beginIssuerSignIn: {
    method: "POST",
    path: "/api/auth/oidc/begin",
    needs: "nobody",
    says: "Starts a sign-in at the identity provider: sets a cookie, and returns the other half of the sign-in's secret and the address to open.",
    answers: { 200: IssuerSignInStarted },
  },
  finishIssuerSignIn: {
    method: "POST",
    path: "/api/auth/oidc/finish",
    needs: "nobody",
    says: "Completes a sign-in with the identity provider's response and starts a session. Works once, in the browser that started the sign-in.",
    body: IssuerAnswer,
    answers: { 200: SignedIn },
  },
  signOut: {
    method: "POST",
    path: "/api/auth/sign-out",
    needs: "read",
    says: "Signs out of this session. Its active runs continue.",
    answers: { 204: null },
  },
  readIdentity: {
    method: "GET",
    path: "/api/auth/me",
    needs: "read",
    says: "Returns who you are and your scopes.",
    answers: { 200: Identity },
  },
  createTicket: {
    method: "POST",
    path: "/api/auth/ticket",
    needs: "read",
    says: "Creates a ticket that opens one WebSocket within 30 seconds, with your scopes.",
    answers: { 201: Ticket },
  },
  listSessions: {
    method: "GET",
    path: "/api/auth/sessions",
    needs: "read",
    says: "Lists your sessions, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(ListedSession) },
  },
  revokeSession: {
    method: "DELETE",
    path: "/api/auth/sessions/{id}",
    needs: "manage",
    says: "Revokes one of your sessions: closes its streams and cancels its active runs.",
    answers: { 204: null },
  },
})

/** Personal access tokens, for programs. */
export const tokenRoutes = defineRoutes({
  listTokens: {
    method: "GET",
    path: "/api/tokens",
    needs: "read",
    says: "Lists your tokens, newest first, without their secrets.",
    query: PageQuery,
    answers: { 200: pageOf(TokenView) },
  },
  createToken: {
    method: "POST",
    path: "/api/tokens",
    needs: "manage",
    says: "Creates a token and returns its secret, only this once. It can have at most the scopes that you have.",
    body: NewToken,
    answers: { 201: CreatedToken },
  },
  revokeToken: {
    method: "DELETE",
    path: "/api/tokens/{id}",
    needs: "manage",
    says: "Revokes one of your tokens: closes its streams and cancels its active runs.",
    answers: { 204: null },
  },
})
