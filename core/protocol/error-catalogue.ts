import {
  databaseErrors,
  fileErrors,
  issuerErrors,
  libraryErrors,
  mcpErrors,
  modelErrors,
} from "./integration-errors.ts"

/** Every failure a caller can see. The code is the contract; the sentence may change. */
export const CATALOGUE = {
  // At the start of a server, for its operator. No route returns it.
  pack_refused: {
    status: 500,
    say: (d: { pack: string; problem: string; todo: string }) =>
      `The pack ${d.pack} in PAWL_PACKS could not be loaded: ${d.problem}. To fix it: ${d.todo}.`,
  },
  bad_request: { status: 400, say: (d: { problem: string }) => d.problem },
  unstorable_text: {
    status: 400,
    say: (d: { field: string }) =>
      `"${d.field}" contains characters that cannot be stored (NUL or half of a surrogate pair). Remove them and send it again.`,
  },
  key_reused: {
    status: 422,
    say: () =>
      "This Idempotency-Key (`key` in a program) was already used with a different body. Use a new key for a new message.",
  },
  unauthenticated: {
    status: 401,
    say: () =>
      "You are not signed in, or your token is not valid any more. `pawl invite --user NAME` prints a sign-in link, `pawl token create --user NAME` a token for programs. A program that embeds Pawl names its users with `http.user`.",
  },
  half_session: {
    status: 401,
    say: () =>
      "Your browser's session is incomplete: its site data was cleared, or the session is from an earlier version. Sign in again with a link from `pawl invite --user NAME`.",
  },
  // The same for a link that was used, is too old or never was: a guess learns nothing.
  link_spent: {
    status: 401,
    say: () => "This sign-in link was already used or has expired. `pawl invite --user NAME` prints a new one.",
  },
  wrong_host: {
    status: 421,
    say: (d: { host: string }) =>
      `This server does not accept requests for the host "${d.host}". If it should, set PAWL_PUBLIC_URL (http.publicUrl in a program) to the address that people use.`,
  },
  public_url_needed: {
    status: 400,
    say: (d: { host: string }) =>
      `To sign in from another program, the server must know its own address, and "${d.host}" comes from the request only. Set PAWL_PUBLIC_URL (http.publicUrl in a program) to the address that people use.`,
  },
  wrong_origin: {
    status: 403,
    say: (d: { origin: string }) =>
      `Pages of ${d.origin} may not change anything on this server. To allow it, add the origin to PAWL_ALLOWED_ORIGINS (http.allowedOrigins in a program).`,
  },
  cross_site: {
    status: 403,
    say: () => "A session cookie is valid only for pages of this server. Programs need a token.",
  },
  too_many_requests: {
    status: 429,
    say: (d: { seconds: number }) =>
      `Too many requests. Try again in ${d.seconds} s. The limit is set by PAWL_RATE_LIMIT.`,
  },
  too_much_unread: {
    status: 429,
    say: (d: { bytes: number; seconds: number }) =>
      `You have ${Math.round(d.bytes / 1_000_000)} MB of unread responses. Read them or close their connections, and try again in ${d.seconds} s.`,
  },
  upgrade_required: {
    status: 426,
    say: () => "This address is a WebSocket. Connect with a WebSocket client (`Upgrade: websocket`).",
  },
  too_many_streams: {
    status: 429,
    say: (d: { most: number }) =>
      `You have ${d.most} open streams, which is the limit. Close some, or follow all conversations with the feed.`,
  },
  server_full: {
    status: 503,
    say: (d: { most: number }) =>
      `This server has ${d.most} open streams and sockets, which is the limit. Try again later.`,
  },
  issuer_unavailable: {
    status: 503,
    say: () => "The signing keys of the token's issuer (PAWL_JWKS_URL) could not be fetched. Try again later.",
  },
  wrong_resource: {
    status: 403,
    say: (d: { resource: string }) =>
      `This token is valid only for ${d.resource}. For the API, create a token in the settings or with \`pawl token create\`.`,
  },
  forbidden: { status: 403, say: (d: { scope: string }) => `Your token does not have the scope "${d.scope}".` },
  // A token created by another one is limited by it. A chain of such tokens would be hard to supervise.
  minted_token: {
    status: 403,
    say: () =>
      "A token that was created by another token cannot create tokens. Create it in the settings, or with `pawl token create`.",
  },
  fresh_sign_in_needed: {
    status: 403,
    say: (d: { minutes: number }) =>
      `A token with the scope "admin" can only be created within ${d.minutes} minutes of signing in. Sign in with a new link from \`pawl invite --admin\`.`,
  },
  // The same sentence for a missing id and for another user's, so that they cannot be distinguished.
  not_found: { status: 404, say: () => "Not found, or it belongs to another user." },
  message_taken: {
    status: 409,
    say: (_: { id: string }) =>
      "This message is not in the queue any more, because its run has started. Cancel the run, or send another message.",
  },
  message_withdrawn: {
    status: 409,
    say: () =>
      "This message was withdrawn before its run started. To send it after all, send it again, with a new key if it had one.",
  },
  message_held: {
    status: 409,
    say: () =>
      "This message is queued because the previous run was cancelled. Start it, send another message, or resume that run.",
  },
  busy: {
    status: 409,
    say: (_: { id: string }) =>
      "This conversation has an active run. Wait for it, queue the message, or cancel the run.",
  },
  still_pending: {
    status: 409,
    say: (d: { count: number }) =>
      `${d.count === 1 ? "A proposal of this run is" : `${d.count} proposals of this run are`} waiting for a decision. Decide first.`,
  },
  call_settled: {
    status: 409,
    say: (_: { id: string }) =>
      "This tool call does not wait for a result: it has one, or the conversation continued without it.",
  },
  call_expired: {
    status: 409,
    say: (_: { id: string }) =>
      "The result of this tool call came too late. Send a message to continue the conversation.",
  },
  question_settled: {
    status: 409,
    say: (_: { id: string }) =>
      "This question cannot be answered any more: it was answered, it expired, or its tool call has ended.",
  },
  nothing_to_resume: {
    status: 409,
    say: (_: { id: string }) => "There is nothing to resume in this conversation. Send a message.",
  },
  proposal_decided: {
    status: 409,
    say: (d: { id: string; status: string }) => `This proposal was already decided. Its status is ${d.status}.`,
  },
  proposal_expired: {
    status: 409,
    say: (d: { id: string; at: string }) => `This proposal expired at ${d.at}. Propose it again to decide.`,
  },
  proposal_stale: {
    status: 409,
    say: (_: { id: string }) =>
      "The data that this proposal would change has changed in the meantime. Propose it again to decide.",
  },
  proposal_unmet: {
    status: 409,
    say: (_: { id: string }) =>
      "This proposal depends on another change of the same reply, which was not applied. Ask for it again.",
  },
  device_in_use: {
    status: 409,
    say: (d: { file: string }) => `Another device uses ${d.file}. Stop it, or choose another file for this device.`,
  },
  device_taken: {
    status: 409,
    say: (d: { device: string }) =>
      `"${d.device}" is already registered with another token. Its owner can allow this one in the settings, under Devices. Then connect again.`,
  },
  own_request: {
    status: 403,
    say: () =>
      "A token cannot approve its own request. Approve it in the settings, under Devices, or with another token that has the scope manage.",
  },
  row_missing: {
    status: 404,
    say: (d: { noun: string; id: string; near?: string }) =>
      `There is no ${d.noun} ${d.id}.${d.near === undefined ? "" : ` Did you mean ${JSON.stringify(d.near)}?`}`,
  },
  row_stale: {
    status: 409,
    say: (d: { noun: string; id: string; columns: string }) =>
      `stale: ${d.columns} of the ${d.noun} ${d.id} changed after it was read. Read it again.`,
  },
  sample_loaded: {
    status: 409,
    say: () => "The sample is already in your workspace. Remove it before you add it again.",
  },
  not_in_doubt: {
    status: 409,
    say: (d: { id: string; status: string }) => `This proposal is not in doubt. Its status is ${d.status}.`,
  },
  not_undoable: {
    status: 409,
    say: (d: { id: string; problem: string }) => `This change cannot be undone: ${d.problem}`,
  },
  already_undone: {
    status: 409,
    say: (d: { id: string; by: string; status: string }) =>
      `This change already has an undo, which is ${d.status}. ${d.status === "pending" ? "Decide about it." : "Undo that one to apply the change again."}`,
  },
  read_only: {
    status: 409,
    say: (_: { id: string }) => `This conversation is read-only. Set its mode to "confirm" to allow changes.`,
  },
  mode_forbidden: {
    status: 403,
    say: (d: { mode: string }) => `The operator does not allow the mode "${d.mode}". Use "confirm" or "read-only".`,
  },
  ...issuerErrors,
  ...modelErrors,
  run_timeout: {
    status: 504,
    say: (d: { seconds: number; setting: string }) =>
      `The run reached its limit of ${d.seconds} s and was stopped. The limit is set by ${d.setting}.`,
  },
  set_aside: {
    status: 500,
    say: (d: { times: number }) =>
      `The run failed ${d.times} times at the same step and was suspended. Resume it to try again.`,
  },
  unknown_agent: {
    status: 400,
    say: (d: { name: string; choices: string }) => `There is no agent "${d.name}". Agents: ${d.choices}.`,
  },
  newer_journal: {
    status: 409,
    say: (_: { id: string }) =>
      "This conversation was continued by a newer version of Pawl. This version can show it but not continue it. Upgrade Pawl.",
  },
  person_unknown: {
    status: 404,
    say: (d: { person: string }) =>
      `There is no user "${d.person}". Create one with \`pawl.people.create\`, or pass the id of an existing user.`,
  },
  person_erased: {
    status: 403,
    say: () =>
      "This account was deleted, and tokens from before cannot restore it. Sign in again with your identity provider to create a new account.",
  },
  lease_lost: {
    status: 409,
    say: (_: { id: string }) => "Another node has taken over this conversation, so this node stops writing to it.",
  },
  over_budget: {
    status: 402,
    say: (d: { problem: string; provider: string }) =>
      `The request was not sent: ${d.problem}. Add your own API key for this provider in the settings, choose a cheaper model, or ask the operator to raise the limit.`,
  },
  host_not_allowed: {
    status: 400,
    /** `variables`: the settings that connect the address for all users. */
    say: (d: { host: string; variables?: string }) => {
      const how = `${d.variables ? `connect it with ${d.variables}, or ` : ""}allow it with PAWL_ALLOW_PRIVATE_HOSTS`
      // The same sentence for a private and an unknown name, so that internal names are not revealed.
      return /^[\d.]+$|:/.test(d.host)
        ? `${d.host} is not a public address. The operator of this server can ${how}.`
        : `${d.host} has no public address, or does not exist. If its address is private, the operator of this server can ${how}.`
    },
  },
  ...databaseErrors,
  ...libraryErrors,
  ...fileErrors,
  secret_unreadable: {
    status: 409,
    say: (_: { id: string }) =>
      "A stored secret cannot be decrypted with this server's master key. Enter it again, or restore the previous key.",
  },
  no_master_key: {
    status: 503,
    say: (d: { problem: string }) => `Secrets cannot be stored: ${d.problem}. See MASTER_ENCRYPTION_KEY.`,
  },
  store_unavailable: { status: 503, say: (d: { problem: string }) => `The database is not available: ${d.problem}.` },
  // Only a caller can detect these two. They are in the same table so that they match like all others.
  unreachable: {
    status: 503,
    say: (d: { route: string; problem: string }) =>
      `The server could not be reached for ${d.route}: ${d.problem}. Check its address and your connection, then try again.`,
  },
  unexpected_answer: {
    status: 502,
    say: (d: { route: string; problem: string }) =>
      `The server sent an unexpected response to ${d.route}: ${d.problem}. Check its address, and that client and server have compatible versions.`,
  },
  draining: { status: 503, say: () => "The server is shutting down. Active runs continue at its next start." },
  device_offline: {
    status: 409,
    say: (d: { device: string }) =>
      `The device ${d.device} is not connected, and this change runs there. Nothing was done. Connect the device (\`pawl device\`), then decide.`,
  },
  // For a write on a device: it was sent, and it is unknown whether it was applied.
  outcome_unknown: { status: 504, say: (d: { problem: string }) => d.problem },
  // Sent on a socket after a run was cancelled, before its last frame.
  cancelled: { status: 409, say: () => "The run was cancelled." },
  too_many: {
    status: 409,
    say: (d: { what: string; most: number; then?: string }) =>
      `Too many ${d.what} at once. The limit is ${d.most}. ${d.then ?? "Close some first."}`,
  },
  mcp_server_failed: {
    status: 502,
    say: (d: { problem: string }) => `The MCP server cannot be used: ${d.problem}.`,
  },
  ...mcpErrors,
  internal: { status: 500, say: () => "An internal error occurred. No recorded data was lost. Try again." },
} as const
