import { retryTimeText } from "../shared/time/retry-time.ts"
import { formatBytes, type StorageKind, storageKinds } from "./account/storage.ts"

/** Errors of users' databases. Part of the table in errors.ts. */
export const databaseErrors = {
  connection_failed: {
    status: 502,
    say: (d: { problem: string }) =>
      `The database could not be reached: ${d.problem}. Check the connection's settings.`,
  },
  superuser_refused: {
    status: 403,
    say: (d: { user: string }) =>
      `${d.user} is a superuser of that database. Connect as a user with read-only access, or ask the operator to set PAWL_ALLOW_SUPERUSER_CONNECTIONS.`,
  },
  // The same for a file that is missing, is not a database or is outside the folder, so that a caller learns nothing
  // about this machine.
  file_not_allowed: {
    status: 400,
    say: (d: { path: string }) =>
      `There is no SQLite database "${d.path}" that you can use. It must be a regular file in your own folder or in "shared" under PAWL_SQLITE_ROOT.`,
  },
  csv_refused: { status: 400, say: (d: { problem: string }) => `The file was not accepted: ${d.problem}.` },
  file_too_large: {
    status: 413,
    say: (d: { most: number }) => `The file is larger than ${d.most} bytes. Split it into several files.`,
  },
  result_expired: {
    status: 410,
    say: (d: { days: number; connection: string }) =>
      `This result has expired: it was not used for ${d.days} days, or newer results needed its space. Run its SQL again to get a new one.`,
  },
  csv_full: {
    status: 409,
    say: (d: { most: number }) =>
      `Your uploaded files would take more than ${d.most} bytes. Delete a connection that you no longer need.`,
  },
  query_refused: {
    status: 400,
    say: (d: { problem: string }) =>
      `Not run: ${d.problem}. Only one SELECT (or WITH, VALUES) that reads data can run here.`,
  },
  change_refused: {
    status: 400,
    say: (d: { problem: string }) =>
      `Not run: ${d.problem}. Only one INSERT, UPDATE or DELETE without RETURNING can be proposed here. Tables cannot be created, altered or dropped.`,
  },
  change_is_nothing: {
    status: 409,
    say: (d: { table: string; rows: number }) =>
      `Not proposed, because it would change nothing. ${d.rows === 0 ? `No row of ${d.table} matches` : `All ${d.rows} matching row(s) of ${d.table} already have these values`}.`,
  },
  no_connection: {
    status: 409,
    say: () => "No database is selected. Ask the person to select one of their connections for this conversation.",
  },
  connection_read_only: {
    status: 409,
    say: (d: { name: string; id: string }) =>
      `"${d.name}" is connected read-only. Its owner can allow changes in the connection's settings. Each change still needs their approval.`,
  },
  query_failed: { status: 422, say: (d: { problem: string }) => `The database reported: ${d.problem}` },
  query_timeout: {
    status: 504,
    say: (d: { seconds: number }) =>
      `The query took longer than ${d.seconds} s and was stopped. Read fewer rows, or aggregate them.`,
  },
  result_too_large: {
    status: 422,
    say: (d: { most: string }) =>
      `One row of the result is larger than ${d.most}. Leave out its long columns, or truncate them.`,
  },
} as const

/** Errors of the files in messages. Part of the table in errors.ts. */
export const fileErrors = {
  file_refused: {
    status: 400,
    say: (d: { problem: string }) => `The file was not accepted: ${d.problem}.`,
  },
  message_file_too_large: {
    status: 413,
    say: (d: { most: number }) =>
      `The file was not accepted: it is larger than ${d.most / 1024 / 1024} MB. Send a part of it, or add it to a collection of the library.`,
  },
  too_many_uploads: {
    status: 429,
    say: (d: { seconds: number }) =>
      `The file was not accepted, because your other uploads have reached the limit. Try again in ${d.seconds} s, when some of them have finished.`,
  },
  uploads_full: {
    status: 503,
    say: (d: { seconds: number }) =>
      `The file was not accepted, because uploads of other users have reached the server's limit. Try again in ${d.seconds} s.`,
  },
  files_full: {
    status: 409,
    say: (d: { most: number }) =>
      `Your attached files would take more than ${d.most / 1024 / 1024} MB, which is the limit (PAWL_FILES_MB). Delete conversations with files that you no longer need.`,
  },
  storage_full: {
    status: 409,
    say: (d: { limitBytes: number; bytes: number; most: StorageKind; mostBytes: number }) =>
      `Your storage is full: you use ${formatBytes(d.bytes)} of ${formatBytes(d.limitBytes)} (PAWL_PERSON_MEGABYTES), most of it for ${storageKinds[d.most].label.toLowerCase()} (${formatBytes(d.mostBytes)}). ${storageKinds[d.most].todo}.`,
  },
  file_unreadable: {
    status: 500,
    say: (d: { problem: string }) => `The file could not be read: ${d.problem}.`,
  },
  files_folder_refused: {
    status: 500,
    say: (d: { path: string; problem: string }) =>
      `The folder for files (PAWL_FILES_FOLDER, ${d.path}) cannot be used: ${d.problem}.`,
  },
} as const

/** Errors of document collections and of web requests. Part of the table in errors.ts. */
export const libraryErrors = {
  name_taken: {
    status: 409,
    say: (d: { name: string }) => `There is already a collection "${d.name}". Use it, or choose another name.`,
  },
  library_full: {
    status: 409,
    say: (d: { most: number; what: string }) => `The limit is ${d.most} ${d.what}. Delete some documents first.`,
  },
  document_too_large: {
    status: 413,
    say: (d: { what: string; most: string }) => `${d.what} is larger than ${d.most}. Split it, or send a part of it.`,
  },
  upload_too_large: {
    status: 413,
    say: (d: { most: string }) =>
      `A request can contain at most ${d.most}. \`pawl ingest\` accepts files of up to 64 MB.`,
  },
  document_unreadable: {
    status: 422,
    say: (d: { problem: string; pages?: number }) => `The document could not be read: ${d.problem}.`,
  },
  web_unreachable: {
    status: 502,
    say: (d: { host: string; problem: string }) => `${d.host} could not be reached: ${d.problem}.`,
  },
} as const

/** Errors of signing in to an MCP server. Each says what the user can do. */
export const mcpErrors = {
  mcp_sign_in_needed: {
    status: 409,
    say: (d: { name: string; isAgain: boolean }) =>
      `The MCP server "${d.name}" cannot be used until the person signs in to it${d.isAgain ? " again, because the sign-in has expired" : ""}. They can do this in the settings, under MCP servers, or with \`pawl mcp login ${d.name}\`.`,
  },
  mcp_scope_needed: {
    status: 409,
    say: (d: { name: string; scope: string }) =>
      `The MCP server "${d.name}" needs more permissions than the person granted when they signed in${d.scope ? ` (${d.scope})` : ""}. To grant them, they sign in again in the settings, under MCP servers, or with \`pawl mcp login ${d.name}\`.`,
  },
  mcp_sign_in_failed: {
    status: 502,
    say: (d: { name: string; problem: string }) => `Signing in to the MCP server "${d.name}" failed: ${d.problem}.`,
  },
  // The same for another user's sign-in, for one that was finished before, and for an expired one.
  mcp_sign_in_not_begun: {
    status: 409,
    say: () =>
      "This sign-in was started by another user or in another browser, was already completed, or took longer than ten minutes. Start again.",
  },
} as const

/** Details of a provider's failure: its name, and its own message if it sent one. */
export interface FromProvider {
  readonly provider: string
  readonly problem?: string | undefined
}

/** The provider's message after ours, because it may contain details that we do not know. */
const inItsWords = ({ problem }: FromProvider): string => (problem ? ` It says: "${problem}"` : "")

/** When to retry, if the provider reports it. */
export interface Later {
  readonly retryAfterMs?: number
  readonly retryAt?: string
}

const againIn = ({ retryAfterMs, retryAt }: Later): string =>
  retryAfterMs === undefined ? "later" : retryTimeText(retryAfterMs, retryAt)

/** Errors of model calls. */
export const modelErrors = {
  no_model_selected: {
    status: 409,
    say: (d: { choices: string; setting?: string | undefined }) =>
      `No model is selected, and no configured provider offers one. Choose one for the conversation, or set ${d.setting ?? "PAWL_MODEL"} for all conversations: ${d.choices}.`,
  },
  unknown_model: {
    status: 400,
    say: (d: { name: string; choices: string; near?: string }) =>
      `There is no model "${d.name}".${d.near ? ` Did you mean ${d.near}?` : ""} Models: ${d.choices}.`,
  },
  model_unavailable: {
    status: 400,
    say: (d: { model: string; need: string }) => `${d.model} is not available yet: ${d.need}.`,
  },
  not_configured: {
    status: 409,
    say: (d: { model: string; need: string }) => `${d.model} is not configured: ${d.need}.`,
  },
  // The request was not sent, because the endpoint refused it.
  model_lacks_tools: {
    status: 409,
    say: (d: { model: string; agent: string }) =>
      `${d.model} does not support tools, and the agent ${d.agent} needs them. Choose another model for this conversation.`,
  },
  model_lacks_images: {
    status: 400,
    say: (d: { model: string; choices: string }) =>
      `${d.model} does not support images. ${d.choices ? `Choose a model that does, such as ${d.choices}, or send text.` : "No other configured model does either: send text, or configure a model that does."}`,
  },
  auth: {
    status: 502,
    say: (d: FromProvider) =>
      `${d.provider} rejected the API key. Check it in the settings, or where the operator sets it, and try again.${inItsWords(d)}`,
  },
  rate_limited: {
    status: 503,
    say: (d: FromProvider & Later) =>
      `${d.provider} has reached its rate limit. Try again ${againIn(d)}.${inItsWords(d)}`,
  },
  // For a budget or a monthly quota, which waiting does not restore.
  quota_spent: {
    status: 502,
    say: (d: FromProvider) =>
      `Your ${d.provider} quota is used up. Add credit or raise the limit there, or choose another model.${inItsWords(d)}`,
  },
  overloaded: {
    status: 503,
    say: (d: FromProvider & Later) => `${d.provider} is overloaded. Try again ${againIn(d)}.${inItsWords(d)}`,
  },
  context_overflow: {
    status: 502,
    say: (d: FromProvider) =>
      `The conversation is too long for the model of ${d.provider}. Summarize it, fork it from an earlier message, or start a new one.${inItsWords(d)}`,
  },
  refused: { status: 502, say: (d: FromProvider) => `${d.provider} declined to answer this request.${inItsWords(d)}` },
  provider_error: {
    status: 502,
    say: (d: { provider: string; problem: string; todo?: string | undefined }) =>
      `${d.provider}: ${d.problem}${d.todo ? `${/[.!?]$/.test(d.problem) ? "" : "."} ${d.todo}` : ""}`,
  },
  answer_unfit: {
    status: 502,
    say: (d: { problem: string; times: number }) =>
      `The answer does not fit the requested format, even after ${d.times} corrections: ${d.problem}`,
  },
  // For the scripted model, for tests of agents.
  script_ended: {
    status: 500,
    say: (d: { replies: number; request: number; last: string; agent?: string | undefined }) =>
      `The scripted model has no reply left${d.agent ? ` for the agent "${d.agent}"` : ""}: its script has ${d.replies}, and this is request ${d.request}, which ends with ${d.last}. Add a reply, or end the script with always(…).`,
  },
  request_malformed: {
    status: 500,
    say: (d: { problem: string }) =>
      `The scripted model rejected a request that no provider would accept. ${d.problem} Compare the script with the agent's tools.`,
  },
  model_silent: {
    status: 504,
    say: (d: { provider: string; seconds: number }) =>
      `${d.provider} sent nothing for ${d.seconds} s, so the run was stopped.`,
  },
} as const

/** Errors of signing in through an issuer (OIDC). Part of the table in errors.ts. Each says who can do something. */
export const issuerErrors = {
  // The same for a browser that did not start it, for one that finishes it again, and for an expired one.
  sign_in_not_begun: {
    status: 401,
    say: () =>
      "This sign-in was started in another browser, was already completed, or took longer than ten minutes. Start again.",
  },
  sign_in_unavailable: {
    status: 503,
    say: (d: { label: string }) =>
      `${d.label} could not be reached, or sent an invalid response. Try again later, or use a sign-in link. The server's log has the details.`,
  },
  // `reason` is one of OAuth's codes, never text from an address.
  sign_in_refused: {
    status: 403,
    say: (d: { label: string; reason: string }) => `${d.label} did not sign you in (${d.reason}).`,
  },
  sign_in_untrusted: {
    status: 401,
    say: (d: { label: string }) =>
      `The response of ${d.label} is not valid for this server or this sign-in. Start again. If it fails again, the server's log says why.`,
  },
  sign_in_clocks: {
    status: 401,
    say: (d: { label: string }) =>
      `The response of ${d.label} has expired or is not valid yet, so the clock of this server or of ${d.label} is wrong. Tell the operator.`,
  },
  sign_in_no_group: {
    status: 403,
    say: (d: { label: string; name: string }) =>
      `You are signed in to ${d.label} as ${d.name}, but none of your groups there may use this server (PAWL_OIDC_GROUPS). Ask the operator.`,
  },
  sign_in_mail_unverified: {
    status: 403,
    say: (d: { label: string }) =>
      `${d.label} has not verified your e-mail address, which this server requires. Verify it there, then start again.`,
  },
  sign_in_mail_domain: {
    status: 403,
    say: (d: { label: string }) =>
      `Your e-mail address at ${d.label} is not in a domain that may use this server (PAWL_OIDC_MAIL_DOMAINS).`,
  },
  sign_in_person_taken: {
    status: 403,
    say: (d: { label: string; name: string }) =>
      `The user "${d.name}" of this server belongs to another account at ${d.label}. Ask the operator.`,
  },
} as const
