// An OpenID Connect provider on this machine, with one client: provider.mjs PORT CALLBACK GROUPS
// It accepts every login with any password. GROUPS is a JSON file: login → groups; it is read at each sign-in.
import { readFile } from "node:fs/promises";

const [port, callback, groups] = process.argv.slice(2);
const { Provider } = await import(process.env.OIDC_PROVIDER);

async function findAccount(_, id) {
  const claims = async () => ({
    sub: id,
    preferred_username: id,
    email: `${id}@people.example`,
    email_verified: true,
    groups: JSON.parse(await readFile(groups, "utf8"))[id] ?? [],
  });
  return { accountId: id, claims };
}

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "gamekeeper", client_secret: "provider-secret", redirect_uris: [callback] }],
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email", "email_verified"] },
  conformIdTokenClaims: false, // put the claims of the scopes into the ID token
  pkce: { required: () => true },
  findAccount,
});
provider.use(async (context, next) => {
  if (context.path === "/favicon.ico") context.status = 204; // browsers ask for it, and a 404 is an error there
  else await next();
  if (typeof context.body === "string") context.body = context.body.replace(/@import[^;]*;/, ""); // a font of another host
});
provider.listen(Number(port), "127.0.0.1");
