import {
  AuthorizationRequest,
  AuthorizationServer,
  ClientDocument,
  ClientRegistration,
  Consent,
  ConsentGiven,
  ConsentQuestion,
  OAuthRefusal,
  ProtectedResource,
  RegisteredClient,
  TokenGranted,
} from "../../account/oauth.ts"
import { defineRoutes } from "../route.ts"

/** For programs that sign in by themselves, as hosted MCP clients do (docs/mcp-server.md). */
export const oauthRoutes = defineRoutes({
  readProtectedResource: {
    method: "GET",
    path: "/.well-known/oauth-protected-resource",
    needs: "nobody",
    says: "OAuth: what `/mcp` is and who gives out tokens for it (RFC 9728).",
    answers: { 200: ProtectedResource },
  },
  readProtectedMcp: {
    method: "GET",
    path: "/.well-known/oauth-protected-resource/mcp",
    needs: "nobody",
    says: "OAuth: the same, where a client looks for it that knows the address of `/mcp`.",
    answers: { 200: ProtectedResource },
  },
  readAuthorizationServer: {
    method: "GET",
    path: "/.well-known/oauth-authorization-server",
    needs: "nobody",
    says: "OAuth: where a person is asked, and where a code is exchanged for a token (RFC 8414).",
    answers: { 200: AuthorizationServer },
  },
  registerClient: {
    method: "POST",
    path: "/oauth/register",
    needs: "nobody",
    says: "OAuth: a program says what it is called and where a person is sent back to (RFC 7591). Nothing is stored.",
    body: ClientRegistration,
    answers: { 201: RegisteredClient, 400: OAuthRefusal },
  },
  exchangeCode: {
    method: "POST",
    path: "/oauth/token",
    needs: "nobody",
    says: "OAuth: the code that a person's consent has made, once, for a token of that person.",
    takes: ["application/x-www-form-urlencoded"],
    answers: { 200: TokenGranted, 400: OAuthRefusal },
  },
  readMcpClient: {
    method: "GET",
    path: "/mcp-sign-in/client.json",
    needs: "nobody",
    says: "OAuth: who this server is when it signs a person in to an MCP server, for those that read a client's document.",
    answers: { 200: ClientDocument },
  },
  readConsent: {
    method: "GET",
    path: "/api/oauth/consent",
    needs: "manage",
    says: "OAuth: what a program asks the signed-in person for.",
    query: AuthorizationRequest,
    answers: { 200: ConsentQuestion },
  },
  giveConsent: {
    method: "POST",
    path: "/api/oauth/consent",
    needs: "manage",
    says: "OAuth: the signed-in person's yes or no, and where the browser goes with it. Only a signed-in browser says it.",
    body: Consent,
    answers: { 200: ConsentGiven },
  },
})
