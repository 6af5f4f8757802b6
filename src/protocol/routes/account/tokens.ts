import { pageOf } from "../../answers.ts"
import { PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import { CreatedToken, NewToken, TokenView } from "../../account/sign-in.ts"

/** Personal access tokens, for programs. */
export const tokenRoutes = defineRoutes({
  listTokens: {
    method: "GET",
    path: "/api/tokens",
    needs: "read",
    says: "Your tokens, newest first, without their secrets.",
    query: PageQuery,
    answers: { 200: pageOf(TokenView) },
  },
  createToken: {
    method: "POST",
    path: "/api/tokens",
    needs: "manage",
    says: "A new token, shown this once. It allows at most what your own credential allows.",
    body: NewToken,
    answers: { 201: CreatedToken },
  },
  revokeToken: {
    method: "DELETE",
    path: "/api/tokens/{id}",
    needs: "manage",
    says: "Revokes a token of yours: closes its streams and cancels the runs that it has working.",
    answers: { 204: null },
  },
})
