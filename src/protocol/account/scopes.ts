/**
 * What a token may do: `read` looks, `chat` speaks, `approve` decides about writes and changes rows by hand, `manage` sees to
 * what outlasts a conversation (tokens, sessions, providers, connections, deletes, exports, erasing oneself), `admin` looks
 * after the server. `self-approve`, beside `approve`: what is said over a socket of the token is written on that socket's own
 * device without asking. Only an operator gives it.
 */
export const scopes = ["read", "chat", "approve", "manage", "admin", "self-approve"] as const
export type Scope = (typeof scopes)[number]

/** What somebody gets who asks for nothing special. */
export const usualScopes: readonly Scope[] = ["read", "chat", "approve", "manage"]

/** What an issuer trusts its people with that says nothing about scopes. */
export const issuerScopes: readonly Scope[] = ["read", "chat", "approve"]
