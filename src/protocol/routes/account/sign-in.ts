import { pageOf } from "../../answers.ts"
import { PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import {
  Identity,
  IssuerAnswer,
  IssuerSignInBegun,
  ListedSession,
  SignedIn,
  SignIn,
  SignInWays,
  Ticket,
} from "../../account/sign-in.ts"

/** Coming in with a browser, going out again, and seeing who has come in. */
export const signInRoutes = defineRoutes({
  signIn: {
    method: "POST",
    path: "/api/auth/sign-in",
    needs: "nobody",
    says: "Uses up a sign-in link and begins a session: sets its cookie, and answers with the secret that the page sends beside it.",
    body: SignIn,
    answers: { 200: SignedIn },
  },
  readSignInWays: {
    method: "GET",
    path: "/api/auth/ways",
    needs: "nobody",
    says: "How a browser may come in beside a link: what the issuer is called, where there is one (docs/sign-in.md).",
    answers: { 200: SignInWays },
  },
  beginIssuerSignIn: {
    method: "POST",
    path: "/api/auth/oidc/begin",
    needs: "nobody",
    says: "Begins a sign-in at the issuer: sets one half of what it is bound to as a cookie, and answers with the other and where to go.",
    answers: { 200: IssuerSignInBegun },
  },
  finishIssuerSignIn: {
    method: "POST",
    path: "/api/auth/oidc/finish",
    needs: "nobody",
    says: "Finishes it with what the issuer has answered, once, in the browser that began it, and begins a session as a link does.",
    body: IssuerAnswer,
    answers: { 200: SignedIn },
  },
  signOut: {
    method: "POST",
    path: "/api/auth/sign-out",
    needs: "read",
    says: "Ends the session that asks. What it has started goes on.",
    answers: { 204: null },
  },
  readIdentity: {
    method: "GET",
    path: "/api/auth/me",
    needs: "read",
    says: "Who you are and what your credential allows.",
    answers: { 200: Identity },
  },
  createTicket: {
    method: "POST",
    path: "/api/auth/ticket",
    needs: "read",
    says: "A ticket that opens one WebSocket within 30 seconds, with what your credential allows.",
    answers: { 201: Ticket },
  },
  listSessions: {
    method: "GET",
    path: "/api/auth/sessions",
    needs: "read",
    says: "Your sessions, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(ListedSession) },
  },
  revokeSession: {
    method: "DELETE",
    path: "/api/auth/sessions/{id}",
    needs: "manage",
    says: "Revokes a session of yours: closes its streams and cancels the runs that it has working.",
    answers: { 204: null },
  },
})
