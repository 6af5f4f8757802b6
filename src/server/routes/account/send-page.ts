import type { Context } from "hono"
import type { Env } from "../../door/request-env.ts"
import { pagePolicy } from "./door-page.ts"

/** A page of the door: it runs its own script only, stands in no frame, is kept by nobody, and tells nobody where it was. */
export const sendPage = (c: Context<Env>, html: string) =>
  c.html(html, 200, {
    "content-security-policy": pagePolicy,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  })

export const sendScript = (c: Context<Env>, script: string) =>
  c.body(script, 200, { "content-type": "text/javascript; charset=utf-8" })
