/** What a token may do: `read` looks, `chat` speaks, `approve` decides about writes, `admin` looks after the server. */
export const scopes = ["read", "chat", "approve", "admin"] as const
export type Scope = (typeof scopes)[number]

/** What somebody gets who asks for nothing special. */
export const usualScopes: readonly Scope[] = ["read", "chat", "approve"]
