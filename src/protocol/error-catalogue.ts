import { databaseErrors } from "./errors/databases.ts"
import { fileErrors } from "./errors/files.ts"
import { libraryErrors } from "./errors/library.ts"
import { mcpErrors } from "./errors/mcp.ts"
import { modelErrors } from "./errors/models.ts"
import { issuerErrors } from "./errors/sign-in.ts"

/** Every failure a caller can see. The code is the contract; the sentence may change. */
export const CATALOGUE = {
  // At the start of a server, for whoever starts it; nobody is asked to answer with it.
  pack_refused: {
    status: 500,
    say: (d: { pack: string; problem: string; todo: string }) =>
      `The pack ${d.pack} (PAWL_PACKS) is refused: ${d.problem}. What to do: ${d.todo}.`,
  },
  bad_request: { status: 400, say: (d: { problem: string }) => d.problem },
  unstorable_text: {
    status: 400,
    say: (d: { field: string }) =>
      `"${d.field}" holds a NUL or half of a surrogate pair, which cannot be stored; remove it and send again.`,
  },
  key_reused: {
    status: 422,
    say: () => "This Idempotency-Key was sent with another body before; send a new key with a new message.",
  },
  unauthenticated: {
    status: 401,
    say: () =>
      "No token was sent, or one that is not known here (any more). Send one: `Authorization: Bearer …`. `pawl token create --user NAME` makes one, `pawl invite --user NAME` a link for a browser.",
  },
  half_session: {
    status: 401,
    say: () =>
      "This browser has a session, but not what its page keeps beside it: what sites have stored was cleared, or the session is from an earlier version. Sign in again: `pawl invite --user NAME` prints a link. Programs send a token.",
  },
  // The same for a link that was used, is too old or never was: a guess learns nothing.
  link_spent: {
    status: 401,
    say: () => "This sign-in link was used before or is too old. `pawl invite --user NAME` prints a new one.",
  },
  wrong_host: {
    status: 421,
    say: (d: { host: string }) =>
      `This server does not answer to the name "${d.host}". If it should, set PAWL_PUBLIC_URL to the address people use.`,
  },
  wrong_origin: {
    status: 403,
    say: (d: { origin: string }) =>
      `Pages of ${d.origin} may not change anything here. If they should, add it to PAWL_ALLOWED_ORIGINS.`,
  },
  cross_site: {
    status: 403,
    say: () => "A session's cookie counts only for pages of this server. Programs send a token instead.",
  },
  too_many_requests: {
    status: 429,
    say: (d: { seconds: number }) => `Too many requests; try again in ${d.seconds} s. PAWL_RATE_LIMIT sets how many.`,
  },
  too_much_unread: {
    status: 429,
    say: (d: { bytes: number; seconds: number }) =>
      `You have left ${Math.round(d.bytes / 1_000_000)} MB of answers unread; read them or close their connections, and try again in ${d.seconds} s.`,
  },
  upgrade_required: {
    status: 426,
    say: () => "This address is a WebSocket: ask for it as one (`Upgrade: websocket`).",
  },
  too_many_streams: {
    status: 429,
    say: (d: { most: number }) =>
      `You have ${d.most} streams open, which is the most; close some, or watch all conversations with GET /api/feed.`,
  },
  server_full: {
    status: 503,
    say: (d: { most: number }) =>
      `This server has ${d.most} streams and sockets open, which is the most; try again in a while.`,
  },
  issuer_unavailable: {
    status: 503,
    say: () => "The keys of the token's issuer (PAWL_JWKS_URL) cannot be fetched; try again in a while.",
  },
  forbidden: { status: 403, say: (d: { scope: string }) => `This token lacks the scope "${d.scope}".` },
  // What a token has made is bounded by that token; a chain of them would be bounded by nobody who is looking.
  minted_token: {
    status: 403,
    say: () =>
      "A token that was made by another token makes none itself. Make it in the page, or with pawl token create.",
  },
  fresh_sign_in_needed: {
    status: 403,
    say: (d: { minutes: number }) =>
      `A token with the scope "admin" is made within ${d.minutes} minutes of signing in: open a new link of pawl invite --admin.`,
  },
  // The same sentence for a missing id and for somebody else's, so that neither can be told from the other.
  not_found: { status: 404, say: () => "There is nothing here, or it is not yours." },
  message_taken: {
    status: 409,
    say: (d: { id: string }) => `${d.id} no longer waits: its run has begun. Cancel the run, or send another message.`,
  },
  message_withdrawn: {
    status: 409,
    say: () =>
      "This message was taken back before its run began. To send it after all, send it anew, with another key if it had one.",
  },
  message_held: {
    status: 409,
    say: () =>
      "The run before this message was stopped, so it waits in the queue: send it now, send another one, or resume that run, and it is taken up.",
  },
  busy: { status: 409, say: (d: { id: string }) => `${d.id} is working; wait, queue the message, or cancel the run.` },
  still_pending: {
    status: 409,
    say: (d: { count: number }) =>
      `${d.count} proposal(s) of this run still wait for a decision; decide them, then resume.`,
  },
  call_settled: {
    status: 409,
    say: (d: { id: string }) => `${d.id} waits for no result: it has one, or the conversation went on without it.`,
  },
  call_expired: {
    status: 409,
    say: (d: { id: string }) => `The result of ${d.id} comes too late; say something, and the conversation goes on.`,
  },
  question_settled: {
    status: 409,
    say: (d: { id: string }) =>
      `${d.id} waits for no answer: somebody has answered, its time was up, or the call that asked has ended.`,
  },
  nothing_to_resume: { status: 409, say: (d: { id: string }) => `${d.id} has nothing left to do; send a message.` },
  proposal_decided: {
    status: 409,
    say: (d: { id: string; status: string }) => `Proposal ${d.id} was decided before: it is ${d.status}.`,
  },
  proposal_expired: {
    status: 409,
    say: (d: { id: string; at: string }) => `Proposal ${d.id} expired at ${d.at}; propose it again to decide.`,
  },
  proposal_stale: {
    status: 409,
    say: (d: { id: string }) => `What proposal ${d.id} would change has changed since; propose it again to decide.`,
  },
  device_in_use: {
    status: 409,
    say: (d: { file: string }) => `Another device uses ${d.file}; end that one, or give this one a file of its own.`,
  },
  device_taken: {
    status: 409,
    say: (d: { device: string }) =>
      `"${d.device}" is a device that came in with another token before. Its person can allow this one: in the page, under Settings, Devices, or with POST /api/devices/requests/{id}/allow. Then connect again.`,
  },
  own_request: {
    status: 403,
    say: () =>
      "A token does not allow what it has asked for itself. Allow it in the page, under Settings, Devices, or with another token that has the scope manage.",
  },
  row_missing: {
    status: 404,
    say: (d: { noun: string; id: string; near?: string }) =>
      `There is no ${d.noun} ${d.id}.${d.near === undefined ? "" : ` Did you mean ${JSON.stringify(d.near)}?`}`,
  },
  row_stale: {
    status: 409,
    say: (d: { noun: string; id: string; columns: string }) =>
      `stale: ${d.columns} of the ${d.noun} ${d.id} changed since it was read; read it again.`,
  },
  sample_loaded: {
    status: 409,
    say: () => "The sample is in your workspace already; DELETE /api/workspace/sample takes it out.",
  },
  not_in_doubt: {
    status: 409,
    say: (d: { id: string; status: string }) => `Proposal ${d.id} is ${d.status}, not in doubt.`,
  },
  not_undoable: {
    status: 409,
    say: (d: { id: string; problem: string }) => `${d.id} cannot be undone: ${d.problem}`,
  },
  already_undone: {
    status: 409,
    say: (d: { id: string; by: string; status: string }) =>
      `${d.id} is undone by ${d.by}, which is ${d.status}; decide that one, or undo it in turn.`,
  },
  read_only: {
    status: 409,
    say: (d: { id: string }) => `${d.id} is read-only; set its mode to "confirm" to change anything from it.`,
  },
  mode_forbidden: {
    status: 403,
    say: (d: { mode: string }) => `The operator forbids the mode "${d.mode}"; use "confirm" or "read-only".`,
  },
  ...issuerErrors,
  ...modelErrors,
  run_timeout: {
    status: 504,
    say: (d: { seconds: number }) => `The run had worked for ${d.seconds} s, its limit, and was ended.`,
  },
  set_aside: {
    status: 500,
    say: (d: { times: number }) =>
      `The run broke off ${d.times} times at the same step and was set aside; resume tries again.`,
  },
  unknown_agent: {
    status: 400,
    say: (d: { name: string; choices: string }) => `There is no agent "${d.name}". Known: ${d.choices}.`,
  },
  newer_journal: {
    status: 409,
    say: (d: { id: string }) => `${d.id} holds events of a newer Pawl; this one can show it but not continue it.`,
  },
  person_erased: {
    status: 403,
    say: () =>
      "This person was erased here, and a token from before that does not bring them back. Whoever wants to begin anew signs in again where the token comes from.",
  },
  lease_lost: {
    status: 409,
    say: (d: { id: string }) => `Another node has taken over ${d.id}; this one stops writing to it.`,
  },
  over_budget: {
    status: 402,
    say: (d: { problem: string; provider: string }) =>
      `Nothing was sent: ${d.problem}. Store a key of your own (PUT /api/providers/${d.provider}), choose a cheaper model, or ask the operator to raise the ceiling.`,
  },
  host_not_allowed: {
    status: 400,
    say: (d: { host: string }) =>
      // A name that is private and one that nobody knows are told alike: which names there are inside is no stranger's business.
      /^[\d.]+$|:/.test(d.host)
        ? `${d.host} is no public address. Only an operator can let people reach it, with PAWL_ALLOW_PRIVATE_HOSTS.`
        : `${d.host} has no public address, or is not known. Where its address is private, only an operator can let people reach it, with PAWL_ALLOW_PRIVATE_HOSTS.`,
  },
  ...databaseErrors,
  ...libraryErrors,
  ...fileErrors,
  secret_unreadable: {
    status: 409,
    say: (d: { id: string }) =>
      `The secret ${d.id} cannot be opened with the master key of this server; save it again, or give the server its former key back.`,
  },
  no_master_key: {
    status: 503,
    say: (d: { problem: string }) => `Secrets cannot be kept: ${d.problem}. See MASTER_ENCRYPTION_KEY.`,
  },
  store_unavailable: { status: 503, say: (d: { problem: string }) => `The store is not available: ${d.problem}.` },
  // The two that only a caller can notice, in the same table so that it matches them as it matches all others.
  unreachable: {
    status: 503,
    say: (d: { route: string; problem: string }) =>
      `${d.route} could not be reached: ${d.problem}. Check the address and the connection, then try again.`,
  },
  unexpected_answer: {
    status: 502,
    say: (d: { route: string; problem: string }) =>
      `${d.route} answered otherwise than agreed: ${d.problem}. Check the address and that client and server fit together.`,
  },
  draining: { status: 503, say: () => "This server is going down; what is at work goes on with its next start." },
  device_offline: {
    status: 409,
    say: (d: { device: string }) =>
      `${d.device} is not connected, and this runs there. Nothing was done; connect it (\`pawl device\`) and decide then.`,
  },
  // Of a write on a device: it was sent, and nobody can say whether it was done.
  outcome_unknown: { status: 504, say: (d: { problem: string }) => d.problem },
  // What a socket says about a run that somebody has stopped, before its last frame.
  cancelled: { status: 409, say: () => "The run was cancelled." },
  too_many: {
    status: 409,
    say: (d: { what: string; most: number; then?: string }) =>
      `Too many ${d.what} at once; ${d.most} are the most. ${d.then ?? "Close some first."}`,
  },
  mcp_server_failed: {
    status: 502,
    say: (d: { problem: string }) => `The MCP server cannot be used: ${d.problem}.`,
  },
  ...mcpErrors,
  internal: { status: 500, say: () => "Something broke on our side; the journal is intact, try again." },
} as const
