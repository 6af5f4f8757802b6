/** Explains a certificate error and what to do about it; undefined for other errors. Retrying never helps. */
export function explainCertificateError(code: string, message: string): string | undefined {
  const explanation = EXPLANATIONS.find(({ codes }) => codes.test(code))
  return explanation && `${message.replace(/\.$/, "")}; ${explanation.advice}`
}

const EXPLANATIONS: readonly { readonly codes: RegExp; readonly advice: string }[] = [
  {
    codes:
      /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|CERT_(UNTRUSTED|SIGNATURE_FAILURE)|INVALID_CA/,
    advice:
      "if you trust it, start Pawl with NODE_EXTRA_CA_CERTS=/path/to/its-authority.pem, the certificate of the authority that signed it",
  },
  { codes: /CERT_HAS_EXPIRED/, advice: "the operator of that server must renew its certificate" },
  { codes: /CERT_NOT_YET_VALID/, advice: "check the clock of this machine" },
  { codes: /CERT_(REVOKED|REJECTED)/, advice: "the operator of that server must replace its certificate" },
  {
    codes: /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    advice: "check that the base URL has the name that the certificate is for",
  },
  {
    codes: /ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/,
    advice: "it does not speak TLS there: check whether its base URL begins with http:// or https://",
  },
]
