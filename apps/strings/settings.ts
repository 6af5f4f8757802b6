import { bytesText } from "./plural.ts"

/** Text about settings, the data folder and the files that settings name. */
export const settingsText = {
  badValue: (name: string, text: string, allowed: string) => `${name} cannot be "${text}". Allowed: ${allowed}.`,
  badHiddenValue: (name: string, allowed: string) =>
    `${name} has a value that is not allowed (not shown, because it may be secret). Allowed: ${allowed}.`,
  unknownSetting: (name: string, suggestion: string) =>
    `${name} is not a setting and has no effect.${suggestion} See docs/reference/settings.md.`,
  fileUnreadable: (setting: string, file: string, reason: string) => `${setting}: ${file} cannot be read: ${reason}.`,
  fileProblem: (setting: string | undefined, file: string, problem: string) =>
    `${setting === undefined ? "" : `${setting}: `}${file}: ${problem}.`,

  oldDataFolder: (folder: string, found: string, dataFolder: string) =>
    `${folder} is no longer the default data folder. It contains ${found}. ` +
    `To use it, set PAWL_DATA=${folder}, or move its contents to ${dataFolder}.`,
  oldDataFile: (what: string, name: string, bytes: number) => `${what} (${name}, ${bytesText(bytes)})`,
  oldData: {
    database: "a database",
    workspace: "a device's workspace",
    mcpServers: "MCP servers",
    masterKey: "the master key",
  },

  previousKeyAlone: "MASTER_ENCRYPTION_KEY_PREVIOUS has no effect without MASTER_ENCRYPTION_KEY.",
  keyInDataFolder:
    "MASTER_ENCRYPTION_KEY is not set, so secrets are encrypted with the key in the data folder (PAWL_DATA). " +
    "Other nodes of this database need the same key.",
  natsWithoutPostgres:
    "NATS_URL has no effect without DATABASE_URL: only nodes that share a PostgreSQL database exchange messages.",
  webhookWithoutSecret:
    "PAWL_WEBHOOK_URL needs PAWL_WEBHOOK_SECRET: at least 16 characters that only you and the receiver know.",

  jwtTwoKeys: "PAWL_JWT_SECRET and PAWL_JWKS_URL are both set. Remove one; tokens are checked with only one key.",
  jwtWithoutKey: (name: string) =>
    `${name} is set without PAWL_JWT_SECRET or PAWL_JWKS_URL. Set one of them to check tokens with.`,
  jwtWithoutIssuer: (name: string) =>
    `${name} is set without PAWL_JWT_ISSUER. Set PAWL_JWT_ISSUER to the \`iss\` of the tokens to accept.`,
  oidcWithoutIssuer: (name: string) =>
    `${name} is set without PAWL_OIDC_ISSUER. Set PAWL_OIDC_ISSUER to the address where people sign in.`,
  oidcWithoutClient:
    "PAWL_OIDC_ISSUER is set without PAWL_OIDC_CLIENT_ID. Register this server with the issuer, with …/sign-in/callback as its " +
    "redirect address, and set PAWL_OIDC_CLIENT_ID to the client id.",
  oidcWithoutGroups: (scopes: string) =>
    `PAWL_OIDC_ISSUER is set without PAWL_OIDC_GROUPS. Set who can sign in, such as staff=${scopes}, or *=${scopes} for ` +
    "everyone that the issuer signs in.",
  oidcScope: (scope: string) => `PAWL_OIDC_SCOPE cannot be "${scope}". It must contain openid.`,
} as const
