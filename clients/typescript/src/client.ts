/** The client: all operations of the API, and what is more pleasant by hand. */

import { Connection, makeLogInCall, makeRefreshCall, type LogInOptions, type Options } from "./connection.js";
import { followChanges, listChanges, type FollowOptions } from "./feed.js";
import { Operations, type ListChangesQuery } from "./operations.js";
import type { Changes, Change, Token } from "./shapes.js";

/**
 * Client of one Gamekeeper server, for one account or API key.
 *
 * It logs in when it needs a token, and renews the token in time. All attempts of a write have the same
 * Idempotency-Key, so the write is applied once.
 *
 * Every method can throw Unreachable (no response after all retries), NotUnderstood (a response that is not from
 * Gamekeeper), Denied, PermissionMissing, TooManyRequests, InternalError and Unavailable; every write also
 * IdempotencyKeyReused. The comment of each method names its own errors; `errors` has all of them.
 */
export class Client extends Operations {
  /**
   * @param url address of the server, such as http://127.0.0.1:5400.
   * @param options a token, or username and password; and what the client should do differently.
   */
  constructor(url: string, options: Options) {
    super(new Connection(url, options));
  }

  /**
   * Log in to any account. The client's own token does not change.
   *
   * Throws InvalidGrant, MfaRequired, WrongOtp, AccountBanned, AccountSuspended, TooManyGuesses.
   *
   * @param password the account's password as the person types it; the client sends the SHA-256.
   */
  async issueToken(username: string, password: string, options: LogInOptions = {}): Promise<Token> {
    return this.connection.send(await makeLogInCall(username, password, options));
  }

  /**
   * Exchange a refresh token, which can be used once, for a new pair of tokens.
   *
   * Throws InvalidGrant.
   */
  refreshToken(refreshToken: string): Promise<Token> {
    return this.connection.send(makeRefreshCall(refreshToken));
  }

  /**
   * List changes of the feed once. Needs the permission game.link.
   *
   * Throws EpochChanged, ChangesTrimmed, CursorAhead, ServerNotAllowed.
   */
  listChanges(query: ListChangesQuery = {}): Promise<Changes> {
    return listChanges(this.connection, query);
  }

  /**
   * Iterate over all changes of the feed, then over each new one as it comes, without end. Needs the permission
   * game.link.
   *
   * While the server is away, the iterator waits; then it continues. Abort `signal` to end it: leaving the loop ends it
   * too, but only at a change. To continue after a restart of your program,
   * store the `seq` of the last change that you have applied, and pass it as `after`.
   *
   * Throws EpochChanged, ChangesTrimmed if the change after `after` is no longer stored, CursorAhead,
   * ServerNotAllowed.
   */
  followChanges(options: FollowOptions = {}): AsyncGenerator<Change, void, undefined> {
    return followChanges(this.connection, options);
  }
}
