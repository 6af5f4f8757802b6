import type { Context } from "hono"
import type { ServerAddress } from "./ports.ts"
import type { Env } from "./request-env.ts"

/** Where the caller reaches this server: what its operator says, or the name that was asked for. No slash at its end. */
export function publicBase(c: Context<Env>, { publicUrl }: ServerAddress): string {
  const { host, scheme = "http" } = c.get("source")
  return (publicUrl ?? `${scheme}://${host}`).replace(/\/$/, "")
}

/** What a stranger is told at `/mcp`: where to learn how to sign in (RFC 9728). */
export const mcpChallenge = (c: Context<Env>, address: ServerAddress): string =>
  `Bearer realm="pawl", scope="read chat", resource_metadata="${publicBase(c, address)}/.well-known/oauth-protected-resource/mcp"`
