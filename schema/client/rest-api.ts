// Printed from schema/openapi.json: npm run schema
export interface paths {
    "/attribution": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the analyses
         * @description Newest first; items leave out time_series, model_breakdown, comparison and diagnostics unless include names them.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["listAttributions"];
        put?: never;
        /**
         * Run an analysis
         * @description Waits for the result as long as Prefer: wait allows (25 s when absent). An unfinished analysis is answered as `processing`, with Location and Retry-After; what Location names tells whether it still waits. With stream=true the answer is an event stream: progress, channel_result, then result or error.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["runAttribution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/analyze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run an analysis
         * @description Waits for the result as long as Prefer: wait allows (25 s when absent). An unfinished analysis is answered as `processing`, with Location and Retry-After; what Location names tells whether it still waits. With stream=true the answer is an event stream: progress, channel_result, then result or error.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["runAttributionVariant1"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an analysis
         * @description Whole but for campaigns, unless include names the sections that are wanted.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["getAttribution"];
        put?: never;
        post?: never;
        /**
         * Delete an analysis
         * @description Its figures, progress and signature go at once; later calls answer 404. What was billed for it stays on record. One that is under way is answered with conflict, code not_finished: cancel it first.
         *
         *     Needs the scope `attribution:write`.
         */
        delete: operations["deleteAttribution"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an analysis
         * @description One that waits never begins, one that is computed stops soon; its streams end with error. It fails with the code cancelled, and nothing is billed. Cancelling again changes nothing; an analysis that has ended by itself is answered with conflict, code already_finished.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["cancelAttribution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an analysis
         * @description A file: a row per channel, per period and channel, per campaign, or per distinct path with its journeys as stored now (same range, lookback, conversion event, and channels if restricted). CSV follows RFC 4180; a text that a spreadsheet would take for a formula gets an apostrophe ahead. JSON is an array of rows. Level paths shows journeys, which auditors of a workspace may not read. A file has 2 GiB at most, an account four open at a time; who takes less than 32 KiB a second is cut after a minute.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["exportAttribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the report of an analysis
         * @description For people, one HTML page: what may be said of each channel and of all together, as far as the intervals allow, with the charts and tables beneath. It loads nothing and runs no script, and prints on A4. As xlsx, a workbook: the same sentences, and the figures as numbers. An analysis without figures is answered with conflict, code not_ready. It is one of the four files that an account may have open.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["reportAttribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attribution/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch an analysis
         * @description Server-sent events from behind the last event that was seen. After the result was seen the answer is 204, which stops a browser from reconnecting. Closing the stream never cancels the analysis.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["streamAttribution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a signed result
         * @description Needs no key. A wrong signature is an answer: valid is false and reason says why. The same can be checked without this service, with the keys at /.well-known/jwks.json.
         */
        post: operations["verifyResult"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect a data source
         * @description csv_upload: put the file into credentials.content (25 MiB), or send rows to POST /data-sources/{id}/records afterwards. Types that this deployment has no connector for are refused with the code unsupported_type, and the message names those that it serves.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["connectDataSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the data sources
         * @description Newest first.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["listDataSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how a data source is doing
         * @description Coverage, freshness, counts, match quality and the latest syncs.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["getDataSourceStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send rows to a data source
         * @description A file of any size as text/csv, application/x-ndjson, application/vnd.apache.parquet or a workbook (.xlsx), plain or gzip, or as the file of multipart/form-data, with a part `options` ahead of it that holds what the parameters say, as JSON; or up to 1000 rows as JSON. Rows are upserted by their natural key, so sending a file again changes nothing. An order is known by its order_id; a conversion of an event table without one by user, time, channel, campaign, event and revenue, so that two purchases of one instant both count: give orders an id if their revenue may be corrected later.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["uploadRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/rejects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the rows that were not stored
         * @description The newest upload first, its rows in the order of their lines; with line, column and reason.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["listRejects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync a data source now
         * @description A sync that is queued or running already is answered instead of a second one. So is the upload under way of a source whose rows are sent, since it ends in what a sync of them does. The id is that of current_sync.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["syncDataSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a data source
         * @description Credentials go at once, rows after 30 days; later calls answer 404.
         *
         *     Needs the scope `attribution:write`.
         */
        delete: operations["deleteDataSource"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/quality": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how good the rows of a data source are
         * @description Measured now, over the newest 366 days that the source has rows of. An analysis measures the days of its own range, and says the same in data_quality. What is blocking there refuses it unless accept_quality names the code.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["getDataQuality"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/data-sources/{id}/channel-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the channel rules of a data source
         * @description In the order in which they are tried; none where channels are called as the files call them.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["getChannelRules"];
        /**
         * Set the channel rules of a data source
         * @description In place of all that it has. The first rule that matches a row gives its channel; rows without one keep theirs, and touches whose file names no channel have that of GA4’s default channel group. Rules act when rows are read, so that later analyses follow them without a new upload. Spend and the clicks of conversions have a channel and a campaign, steps of aggregated paths only a channel: rules that ask for more pass them by.
         *
         *     Needs the scope `attribution:write`.
         */
        put: operations["setChannelRules"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/experiments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the experiments
         * @description Newest first, those of deleted sources too.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["listExperiments"];
        put?: never;
        /**
         * Record the result of an experiment
         * @description A holdout or geo test of one channel, or of several together. Later causal analyses of ranges that share days with its period are calibrated by it and show it beside their estimate. A second result of the same channels, method and period is refused: it would count twice.
         *
         *     Needs the scope `attribution:write`.
         */
        post: operations["createExperiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/experiments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an experiment
         * @description As it was recorded; what it did to an analysis stands in the diagnostics of that analysis.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["getExperiment"];
        put?: never;
        post?: never;
        /**
         * Delete an experiment
         * @description Later analyses do without it; those that used it keep what they computed.
         *
         *     Needs the scope `attribution:write`.
         */
        delete: operations["deleteExperiment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/experiments/designs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask which experiment would settle it
         * @description A user holdout per paid channel that can be kept away from people, and one of all of them together; the most valuable first. They stand on the newest completed causal analysis of the source and range. Where there is none, a run is made: it is not billed, and can be read as nothing else. The answer waits for it as long as Prefer: wait allows (25 s when absent), else it is 202 with Location and Retry-After.
         *
         *     Needs the scope `attribution:read`.
         */
        get: operations["listExperimentDesigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an agent and receive its key
         * @description One agent per operator. The key and, where a callback_url was given, the callback secret are shown only in this answer.
         */
        post: operations["registerAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the profile of the calling agent
         * @description Where listings of the contract name a member differently, both names are served; the second one is marked deprecated.
         */
        get: operations["getOwnAgent"];
        put?: never;
        post?: never;
        /**
         * Close the account of the calling agent
         * @description Every key and token of the account ends at once, this one included, and cannot be had back. Commissions that were earned are paid on the usual days; those of its referrers on it that are younger than 90 days are taken back. Ledgers, invoices and the audit log stay.
         */
        delete: operations["closeAgent"];
        options?: never;
        head?: never;
        /**
         * Change the calling agent
         * @description Members that are left out stay as they are. redirect_uris are where GET /v1/oauth/authorize may send resource owners back to; on 127.0.0.1 and localhost any port will do (RFC 8252). A test key changes how the sandbox shows the agent, and nothing else.
         *
         *     Needs the scope `referrals:write`.
         */
        patch: operations["updateOwnAgent"];
        trace?: never;
    };
    "/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the profile of an agent
         * @description Your own agent comes whole; of others you see what identifies them: name, capabilities, tier, trust score and age.
         */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Say what the calling agent does
         * @description Replaces all capabilities. They describe the agent to others; scopes decide what it may do.
         *
         *     Needs the scope `referrals:write`.
         */
        put: operations["updateCapabilities"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the calling agent has used
         * @description Calls of the account with its keys and tokens, by operation; those of one process are booked every three seconds, so that the newest may be missing, and operations over WebSocket are not counted. Fees in one currency, as GET /billing/summary. A test key sees its own calls, and no fees.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what an agent has used, which has to be the calling one
         * @description Calls of the account with its keys and tokens, by operation; those of one process are booked every three seconds, so that the newest may be missing, and operations over WebSocket are not counted. Fees in one currency, as GET /billing/summary. A test key sees its own calls, and no fees.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getAgentUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/referrals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the referrals of the calling agent
         * @description Newest first. Agents that registered with the code of the calling agent have depth 1 and count for its tier once they are active; those that registered with the code of one of them have depth 2. A test key sees none.
         *
         *     Needs the scope `referrals:read`.
         */
        get: operations["listReferrals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/referrals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the referrals of an agent, which has to be the calling one
         * @description Newest first. Agents that registered with the code of the calling agent have depth 1 and count for its tier once they are active; those that registered with the code of one of them have depth 2. A test key sees none.
         *
         *     Needs the scope `referrals:read`.
         */
        get: operations["listAgentReferrals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the commission ledger of the calling agent
         * @description Newest first: what the calling agent has earned in a period, each entry linked to the one before by its hash. Commissions of referrals can be taken back for 90 days; what can be paid is paid on the first of the month. A test key sees none.
         *
         *     Needs the scope `referrals:read`.
         */
        get: operations["listCommissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/commissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the commission ledger of an agent, which has to be the calling one
         * @description Newest first: what the calling agent has earned in a period, each entry linked to the one before by its hash. Commissions of referrals can be taken back for 90 days; what can be paid is paid on the first of the month. A test key sees none.
         *
         *     Needs the scope `referrals:read`.
         */
        get: operations["listAgentCommissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commissions/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an entry of the commission ledger
         * @description Hashes the whole ledger of the calling agent again, checks every link, and compares it with what the audit log has seen, whose heads are signed outside of the database. A hash that does not fit is an answer, not an error. The audit log tells of it (commission.verified).
         *
         *     Needs the scope `referrals:read`.
         */
        post: operations["verifyCommission"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of the account
         * @description Newest first, ended ones included; never the keys themselves, nor their hashes. A test key sees test keys alone.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create a pair of keys
         * @description A live key and its test twin for the sandbox; both are shown only in this answer. They act for whom the calling key acts, and may do no more than it; made by a token or by a key that ends, they end with its grant or with it. Needs a live secret key or a token of client_credentials.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description It ends at once and for ever, and with it every token that it was shown for and every key that ends with it, open streams included. A second time changes nothing. Your own key may be revoked as well.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a key by another
         * @description The new key, shown only here, has the scopes, allowlist, version and end of the old one, which works on for grace_hours. Tokens, and keys that end, rotate what ends with them. Rotating a key that was rotated before ends the older grace.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{id}/keys/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the key of the calling agent
         * @description Rotates the key that the agent was registered with, svc_agent_sk_…, as POST /keys/{id}/rotate does with any key.
         */
        post: operations["rotateAgentKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an access token
         * @description client_credentials takes the agent's id and key. authorization_code takes a code that a resource owner granted at GET /v1/oauth/authorize, with its PKCE verifier. refresh_token does what POST /oauth/token/refresh does. JSON is answered as everywhere else. A form (application/x-www-form-urlencoded) is answered as stock OAuth clients expect: no nonce, errors as RFC 6749 §5.2 has them.
         */
        post: operations["issueToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/token/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a new pair of tokens for a refresh token
         * @description Each refresh token works once: using one again is answered with 401 invalid_grant and revokes every token that descends from the same authorisation. JSON is answered as everywhere else. A form (application/x-www-form-urlencoded) is answered as stock OAuth clients expect: no nonce, errors as RFC 6749 §5.2 has them.
         */
        post: operations["refreshToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a token at once
         * @description Whoever has the token may end it. A refresh token takes every token of its authorisation with it, an access token goes alone. Tokens that are unknown or over are no error. JSON is answered as everywhere else. A form (application/x-www-form-urlencoded) is answered as stock OAuth clients expect: no nonce, errors as RFC 6749 §5.2 has them.
         */
        post: operations["revokeToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Newest first. Every entry can be hashed again by its reader; chain_verified says that each on this page was, and is linked to its neighbours. A test key sees the entries of the sandbox alone. Entries older than 90 days may come from an archive, which takes longer.
         *
         *     Needs the scope `audit:read`.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the audit chain
         * @description Hashes a range of the log again, checks every link, and compares it with the heads that were signed outside of the database: entries that were changed, taken out, swapped or cut off, and a chain that was hashed anew, are found. A failed verification is itself a critical event of the log.
         *
         *     Needs the scope `audit:read`.
         */
        post: operations["verifyAuditChain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what happens
         * @description Server-sent events without an end: everything that webhooks tell, in the order in which it was committed, each in the shape of its JSON Schema. The id that comes first says where the stream begins; whoever comes back with the last id misses nothing and sees nothing twice. A type that is asked for needs the scope that reads its resources; without types the stream leaves out what the key may not read.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces that you belong to
         * @description Those of your account and those that your agent was added to, newest first, each with your role in it.
         */
        get: operations["listWorkspaces"];
        put?: never;
        /**
         * Make a workspace
         * @description A part of your account that agents, also of other accounts, work in together. The calling agent becomes its owner. Another region than the one this deployment serves is refused.
         */
        post: operations["createWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an agent to a workspace, or change its role
         * @description For owners of the workspace. An agent that is a member already gets the role that is named, with 200. The last owner keeps its role. The key needs the scopes of all that the role allows, and no end: a member stays when the key has gone.
         */
        post: operations["addWorkspaceAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Newest first; those that are on, or all of them with active=all.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Subscribe an address to events
         * @description Events of your account, or of the workspace that you act in, are sent to the address as signed JSON; the JSON Schema of each type is part of this release (schema/events). At most 16 webhooks. Without a secret one is made. Addresses that are not public are refused, now and at every sending.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description With how it fares; the secret is not shown again.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Nothing more is sent to it, and the record of its deliveries is gone as well.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Members that are left out stay. A secret that is replaced signs beside the new one for 24 hours, so that receivers need not change in the same moment. Switching a webhook on again counts its failures anew. Another url or secret takes the scopes of all that it hears.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description A made-up event of the type, marked "test": true, is sent at once and not tried again. The answer comes when the receiver has answered, or after 15 seconds.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List attempts to deliver
         * @description Newest first, one record per attempt: a failed one with retries left is followed by a pending one, due at scheduled_at. Kept for 90 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver an event again
         * @description The event of the attempt is sent again with the same event id, as the first of a new series of attempts.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the plans with their prices
         * @description Cheapest first; current marks the plan of the caller. self_hosted, which nobody can subscribe to, is shown to those who have it.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/value-proofs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what analyses have brought and cost, with signed receipts
         * @description Newest first; one per completed analysis, made when it is charged and never changed. Receipts verify offline with the keys at /.well-known/jwks.json, and with POST /verify. A test key sees those of the sandbox, which cost nothing. The audit log tells of each page (data.exported).
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["listValueProofs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the bill of a period
         * @description In one currency, since fees are in the currency of their source and are never added across two; other_currencies names those that have figures as well. Each analysis counts once, with what it was charged. In a workspace only what happened there; plan fees and the limit are of the account as a whole. A test key sees zeros: the sandbox costs nothing.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getBillingSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what the running month has cost so far
         * @description In one currency, as GET /billing/summary. In a workspace only what happened there, without a limit, which is of the account as a whole. A test key sees zeros.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getBillingUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/spend-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say what the account wants to spend in a month at most
         * @description It counts in each currency by itself, and replaces the limit that there was. With action block, an analysis that would be billed is refused with 402 spend_limit_exceeded once its least fee would pass the limit, whoever of the account asks for it. A fee is known only afterwards, so the last analysis may pass the limit once. A test key sets a limit of the sandbox, where nothing is spent: one below 10 refuses its analyses.
         *
         *     Needs the scope `billing:read`.
         */
        post: operations["setSpendLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe to a plan
         * @description pro_trial and pro count from now on. A trial is had once and ends with its days, unless pro is asked for meanwhile, which then follows it. pay_per_analysis ends a paid plan with its period, and asking for the plan again takes that back. enterprise waits for a contract. With a test key the sandbox does the same and costs nothing; the token tok_fail is refused with 402.
         *
         *     Needs the scope `billing:read`.
         */
        post: operations["subscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the subscription of the account
         * @description The one that counts now, else the one that waits for a contract, else the last that ended. 404 for an account that never subscribed: it is on the plan that GET /billing/plans marks.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getSubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invoices of the account
         * @description Newest first; one per month and currency that cost anything, made on the first of the next month. They are of the account as a whole: a workspace has none, nor has a test key.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["listInvoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/invoices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an invoice
         * @description As it was made; only whether it was paid changes. With Accept: application/pdf as a page of A4.
         *
         *     Needs the scope `billing:read`.
         */
        get: operations["getInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether the service is up
         * @description Answers without a key; a test key, or the host of the sandbox, asks for the sandbox. 503 when something is down that every request needs. `degraded` when it is slow, or when the disk is nearly full: reads go on then, and changes are refused.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "attribution.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of attribution.completed
         * @description An analysis has finished; one that failed says so in status and failure.
         *
         *     Needs `attribution:read`.
         */
        post: operations["onAttributionCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "attribution.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of attribution.updated
         * @description Late rows have changed the revenue of an analysis with auto_refresh, and it was run again.
         *
         *     Needs `attribution:read`.
         */
        post: operations["onAttributionUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "health.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of health.alert
         * @description The health score of a source fell below 60, or by 15 points within 7 days. Nothing sends it yet.
         *
         *     Needs `health:read`.
         */
        post: operations["onHealthAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "health.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of health.recovered
         * @description The health score is at 65 or more after an alert. Nothing sends it yet.
         *
         *     Needs `health:read`.
         */
        post: operations["onHealthRecovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "forecast.ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of forecast.ready
         * @description A forecast has finished. Nothing sends it yet.
         *
         *     Needs `attribution:read`.
         */
        post: operations["onForecastReady"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "journey.milestone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of journey.milestone
         * @description The converting journeys of a source have passed 1,000, 10,000, 100,000 or 1,000,000. Nothing sends it yet.
         *
         *     Needs `journeys:read`.
         */
        post: operations["onJourneyMilestone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "campaign.anomaly": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of campaign.anomaly
         * @description A figure of a campaign is three robust standard deviations or more from its last 28 days. Nothing sends it yet.
         *
         *     Needs `campaigns:read`.
         */
        post: operations["onCampaignAnomaly"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "billing.invoice_created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of billing.invoice_created
         * @description A month has closed with something to pay.
         *
         *     Needs `billing:read`.
         */
        post: operations["onBillingInvoiceCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "billing.payment_received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of billing.payment_received
         * @description A payment was booked.
         *
         *     Needs `billing:read`.
         */
        post: operations["onBillingPaymentReceived"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "billing.spend_alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of billing.spend_alert
         * @description The spend of the month has reached a threshold of the limit that the account set itself; once a month for each.
         *
         *     Needs `billing:read`.
         */
        post: operations["onBillingSpendAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "agent.tier_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of agent.tier_changed
         * @description The number of active referrals has moved an agent to another tier.
         */
        post: operations["onAgentTierChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "commission.earned": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of commission.earned
         * @description An entry was added to the commission ledger.
         *
         *     Needs `referrals:read`.
         */
        post: operations["onCommissionEarned"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "commission.paid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of commission.paid
         * @description Commissions were paid out.
         *
         *     Needs `referrals:read`.
         */
        post: operations["onCommissionPaid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "commission.reversed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hear of commission.reversed
         * @description A commission was taken back: the referred agent was gone before its 90 days were over.
         *
         *     Needs `referrals:read`.
         */
        post: operations["onCommissionReversed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description What every answer outside 2xx carries. Those who prefer application/problem+json (Accept) get the same as RFC 9457 problem details. */
        Error: {
            error: {
                /** @enum {string} */
                type: "invalid_api_key" | "expired_api_key" | "rate_limit_exceeded" | "missing_nonce" | "duplicate_nonce" | "ip_not_allowed" | "insufficient_permissions" | "resource_not_found" | "validation_error" | "internal_error" | "service_unavailable" | "idempotency_conflict" | "idempotency_in_progress" | "conflict" | "unsupported_api_version" | "invalid_request" | "invalid_grant" | "unsupported_grant_type" | "invalid_scope" | "invalid_client" | "spend_limit_exceeded" | "payment_required" | "method_not_allowed" | "not_acceptable" | "payload_too_large" | "unsupported_media_type" | "data_source_unavailable";
                message: string;
                request_id: string;
                /** Format: uri */
                doc_url: string;
                /** @description What exactly is wrong, for programs */
                code?: string;
                /** @description Where: JSON Pointer into the body, or query:name, header:Name */
                param?: string;
                /** @description Every rejected member */
                errors?: {
                    /** @description JSON Pointer into the body, or query:name, header:Name */
                    param: string;
                    code: string;
                    message: string;
                }[];
                /** @description What is wrong with the rows, where the code is data_quality_insufficient */
                data_quality?: components["schemas"]["DataQualityCheck"][];
                /** @description Seconds to wait, as in Retry-After */
                retry_after?: number;
            };
        };
        DataQualityCheck: {
            /** @enum {string} */
            code: "order_match_rate" | "user_match_rate" | "rejected_revenue" | "mixed_currencies" | "spend_without_touches" | "touches_without_spend" | "duplicate_orders" | "missing_days" | "ambiguous_dates" | "assumed_time_zone" | "bot_like_users" | "level_shift" | "campaign_coverage" | "refunds_missing";
            /** @enum {string} */
            severity: "info" | "warning" | "blocking";
            /** @description What was measured, mostly a share in [0, 1] */
            value: number;
            threshold: number;
            /** @description Money concerned, major units; null where nobody can tell */
            amount: number | null;
            currency: string | null;
            message: string;
            remedy: string;
        };
        /** @description What a token request in a form is answered with outside 2xx. */
        OauthError: {
            error: string;
            error_description: string;
            /** Format: uri */
            error_uri: string;
        };
        AttributionResult: {
            id: string;
            /** @enum {string} */
            status: "pending" | "processing" | "completed" | "failed";
            /** @enum {string} */
            model: "causal" | "markov" | "shapley" | "dominance" | "rwa" | "prav";
            data_source_id: string;
            /** @description All sources that were analysed together, in the order of the request; absent for one */
            data_source_ids?: string[];
            date_range: [
                string,
                string
            ];
            /** @description Empty until completed; while a refresh is under way, that of the last revision */
            channel_impact: components["schemas"]["ChannelImpact"][];
            methodology: string;
            confidence: number | null;
            /** Format: date-time */
            created_at: string;
            /** @description Judged at the moment of reading. The record envelope until completed; null only where the evidence was not kept: analyses of older versions */
            trust: components["schemas"]["TrustEnvelope"] | null;
            /** @description How good the rows of the range are; what is blocking was accepted by accept_quality. Absent until completed, and in results of older versions */
            data_quality?: components["schemas"]["DataQuality"];
            /** @description The margin that profits stand on: of the request, of orders that say their cogs, or of the source. Absent where none of them says one: then there is revenue alone */
            profitability?: components["schemas"]["Profitability"];
            completed_at: string | null;
            /** @enum {string} */
            granularity: "daily" | "weekly" | "monthly";
            channels: string[] | null;
            currency: string | null;
            /** @enum {string} */
            environment: "live" | "sandbox";
            revision: number;
            /**
             * @description Where it was asked for: late rows that change the revenue make a new revision
             * @constant
             */
            auto_refresh?: true;
            conversions: number | null;
            revenue: number | null;
            baseline_revenue: number | null;
            unattributed_revenue: number | null;
            lookback_window_days: number;
            conversion_event: string;
            confidence_level: number;
            revenue_lastclick_cents: number | null;
            revenue_causal_cents: number | null;
            delta_r_cents: number | null;
            delta_r_net_cents: number | null;
            /** @description By the plan of the account, 0 for a repetition; of a charged analysis what it was charged */
            platform_fee_cents: number | null;
            /**
             * @description Where nothing is charged: in the sandbox, on plans without a fee, for repetitions
             * @constant
             */
            billed?: false;
            /** @description Null for aggregated paths, which have no times */
            time_series?: components["schemas"]["TimeSeriesPoint"][] | null;
            /** @description Where include names it; null for aggregated paths and for too many campaigns to tell apart */
            campaigns?: components["schemas"]["CampaignImpact"][] | null;
            model_breakdown?: {
                [key: string]: {
                    [key: string]: number | null;
                };
            } | null;
            comparison?: {
                [key: string]: {
                    [key: string]: number | null;
                };
            } | null;
            diagnostics?: {
                journeys: number;
                converting_journeys: number;
                touches: number;
                converged: boolean;
                iterations: number;
                elapsed_ms: number;
                seed: string;
                run_digest: string;
                warnings: string[];
                /** @description Of the causal credit; absent otherwise, and in results from before there were any */
                tests?: components["schemas"]["CreditTest"][];
                /** @description Where the sources hold identities; absent otherwise */
                stitching?: {
                    pairs: number;
                    people: number;
                    user_match_rate: number | null;
                    stitched_user_match_rate: number | null;
                };
                /** @description Where orders say whether their customer is new; absent otherwise */
                customers?: {
                    new: {
                        orders: number;
                        revenue: number;
                    };
                    returning: {
                        orders: number;
                        revenue: number;
                    };
                    unknown: {
                        orders: number;
                        revenue: number;
                    };
                    channels: {
                        channel: string;
                        orders: number;
                        new_orders: number;
                    }[];
                };
                models: {
                    [key: string]: unknown;
                };
                /** @description Experiments that calibrated the causal credit */
                experiments: components["schemas"]["ExperimentCalibration"][];
            } | null;
            progress: number;
            failure: {
                /** @enum {string} */
                code: "insufficient_data" | "source_unavailable" | "amount_out_of_range" | "data_quality_insufficient" | "cancelled" | "internal";
                message: string;
            } | null;
            agent_id: string | null;
            /** @description The workspace that the analysis lies in, where it lies in one */
            workspace_id?: string;
            /** @description JWS (EdDSA) that vouches for this result: POST /verify, or any JOSE library with /.well-known/jwks.json. Null until completed, while a refresh is under way, and on results that are older than signatures */
            signature: string | null;
        };
        ChannelImpact: {
            channel: string;
            /** @description Incremental uplift against the counterfactual without the channel */
            causal_lift: number | null;
            /** @description (attributed_revenue - spend) / spend; null without spend, or where not measurable */
            roi: number | null;
            spend: number;
            attributed_revenue: number;
            confidence: number | null;
            confidence_interval: {
                lower: number;
                upper: number;
                level: number;
            } | null;
            lastclick_revenue: number;
            /** @description attributed_revenue - lastclick_revenue, signed */
            delta_r: number;
            incremental_revenue: number;
            conversions: number;
            share: number;
            /** @description attributed_revenue / spend; null without spend, or where not measurable */
            roas: number | null;
            rank: number;
            is_baseline: boolean;
            /** @description margin * attributed_revenue - spend, of paid channels where there is profitability, absent otherwise; null where not measurable */
            profit?: number | null;
            /** @description Of the profit: the ends of confidence_interval, times margin, less spend; absent like profit */
            profit_interval?: {
                lower: number;
                upper: number;
                level: number;
            } | null;
            /** @description margin * attributed_revenue / spend: above 1 a channel earns more than it costs. Absent like profit; null without spend, or where not measurable */
            profit_roas?: number | null;
            /** @description Of paid channels under causal; absent otherwise */
            identification?: components["schemas"]["Identification"];
            /** @description Beside untracked spend that revenue rose with significantly, part of no total; absent otherwise */
            spend_response?: components["schemas"]["SpendResponse"];
        };
        Identification: {
            /**
             * @description point: the interval is that of sampling and mechanism; partial: it spans every effect that the rows leave possible; none: not measurable
             * @enum {string}
             */
            status: "point" | "partial" | "none";
            reasons: {
                /** @enum {string} */
                code: "reactive_targeting" | "navigational_click" | "untracked_spend" | "too_few_exposures" | "horizon_exceeds_data" | "ids_split" | "placebo_contains_effect" | "no_placebo";
                message: string;
            }[];
        };
        SpendResponse: {
            incremental_revenue: number;
            confidence_interval: {
                lower: number;
                upper: number;
                level: number;
            };
            /** @description That spend changes nothing; two-sided */
            p_value: number;
            /** @enum {string} */
            method: "time_series";
        };
        /** @description Scores the integrity of this answer (HREI). */
        TrustEnvelope: {
            /** @description 0 is perfect trust, 1 is critical risk; two decimals */
            hrei_score: number;
            /** @enum {string} */
            risk_level: "minimal" | "low" | "moderate" | "high" | "critical";
            components: {
                detection: {
                    score: number;
                    semantic_entropy: number;
                    calibration_error: number;
                    perplexity_anomaly: number;
                };
                attribution: {
                    score: number;
                    factual_grounding: number;
                    knowledge_graph_divergence: number;
                    prompt_sensitivity: number;
                };
                provenance: {
                    score: number;
                    source_retrievability: number;
                    temporal_displacement: number;
                    citation_reliability: number;
                };
                consistency: {
                    score: number;
                    internal_consistency: number;
                    logical_coherence: number;
                    cross_response_consistency: number;
                };
                taxonomy: {
                    score: number;
                    classifications: ("fabrication" | "misattribution" | "outdated_reference" | "reasoning_failure")[];
                };
            };
            verification: {
                ground_truth_source: string;
                claims_verified: number;
                claims_total: number;
                confidence_intervals_included: boolean;
                model_run_traceable: boolean;
            };
            metadata: {
                hrei_version: string;
                /** Format: date-time */
                evaluated_at: string;
                weights: {
                    [key: string]: number;
                };
            };
        };
        DataQuality: {
            /** @enum {string} */
            status: "good" | "warning" | "blocking";
            /** @description What was found, the worst first; empty where nothing was */
            checks: components["schemas"]["DataQualityCheck"][];
        };
        Profitability: {
            margin: number;
            /**
             * @description orders: 1 - cogs / revenue of the orders of the range that say their cogs, which bring at least 90 % of its revenue. setting: that of the (first) source. request: what was asked
             * @enum {string}
             */
            origin: "orders" | "setting" | "request";
        };
        TimeSeriesPoint: {
            /**
             * Format: date
             * @description First day of the day, week (Monday) or month, UTC
             */
            period_start: string;
            /** @description The range covers a part of the period only */
            partial: boolean;
            /** @description Of the conversions of the period */
            revenue: number;
            baseline_revenue: number;
            /** @description Attributed revenue; each channel sums over the periods to its attributed_revenue */
            channels: {
                [key: string]: number | null;
            };
        };
        CampaignImpact: {
            channel: string;
            /** @description Null for what names none */
            campaign: string | null;
            spend: number;
            touches: number;
            /** @description The campaigns of a channel sum to the channel */
            attributed_revenue: number;
            lastclick_revenue: number;
            /** @description attributed_revenue - lastclick_revenue, signed */
            delta_r: number;
            /** @description (attributed_revenue - spend) / spend; null without spend, or where not measurable */
            roi: number | null;
            /** @description attributed_revenue / spend; null without spend, or where not measurable */
            roas: number | null;
        };
        CreditTest: {
            /** @enum {string} */
            code: "held_out_placebo" | "lead" | "horizon_halved" | "horizon_doubled" | "window_halves" | "overlap";
            /** @description Null where it concerns all */
            channel: string | null;
            /** @enum {string} */
            status: "pass" | "fail" | "not_applicable";
            /** @description Part of the revenue, of window_halves half the difference; lead: unpaid visits per touch; overlap: part of the people */
            estimate: number | null;
            interval: {
                lower: number;
                upper: number;
                level: number;
            } | null;
            threshold: number | null;
            message: string;
        };
        ExperimentCalibration: {
            id: string;
            channel: string;
            /** @description One, or several that were kept away together */
            channels: string[];
            /** @enum {string} */
            method: "holdout" | "geo";
            period: [
                string,
                string
            ];
            /** @description Over the period */
            measured_incremental_revenue: number;
            measured_standard_error: number;
            /** @description Carried over to the range */
            incremental_revenue: number;
            standard_error: number;
            /** @description Share of the period in the range times share of the range in the period */
            overlap: number;
            /** @enum {string} */
            basis: "touches" | "days";
            /** @description Credit of the channel without any experiment */
            model_incremental_revenue_before: number;
            model_incremental_revenue_after: number;
        };
        /** @description What every page of a list carries beside its entries: where it stands, and one trust envelope for all of them. A page behind the last one has none. The header Link leads to the other pages. */
        ListEnvelope: {
            meta: components["schemas"]["Meta"];
            trust: components["schemas"]["TrustEnvelope"];
        };
        /** @description Where this page stands in the list. */
        Meta: {
            page: number;
            per_page: number;
            total: number;
            total_pages: number;
        };
        ResultVerification: {
            valid: boolean;
            /** @description Whether a published key made the signature over exactly this payload */
            signature_valid: boolean;
            /** @description Whether the result given is the one that was signed; null when none was given */
            digest_match: boolean | null;
            /** @description Null when valid */
            reason: ("bad_signature" | "unknown_key" | "revoked_key" | "wrong_issuer" | "digest_mismatch" | "superseded_revision" | "malformed_payload") | null;
            algorithm: string;
            key_id: string | null;
            issuer: string | null;
            subject: {
                /** @enum {string} */
                type: "attribution_result" | "value_receipt";
                id: string;
                revision: number;
            } | null;
            signed_at: string | null;
            environment: ("live" | "sandbox") | null;
            /** @description The claims of the signature; null unless the signature is right */
            payload: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            verified_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        /** @description A row that was not stored, and why. */
        RejectedRow: {
            line: number;
            column: string | null;
            code: string;
            message: string;
        };
        DataSource: {
            data_source_id: string;
            /** @enum {string} */
            type: "ga4" | "shopify" | "meta_ads" | "google_ads" | "csv_upload";
            /** @enum {string} */
            status: "connected" | "syncing" | "error";
            first_sync_eta: string | null;
            last_sync: string | null;
            records_synced: number;
            health_score: number | null;
            name: string;
            /** @enum {string} */
            sync_schedule: "daily" | "weekly" | "realtime";
            agent_id: string | null;
            workspace_id: string | null;
            brand_id: string | null;
            start_date: string | null;
            currency: string | null;
            baseline_channels: string[];
            margin: number | null;
            /** Format: date-time */
            created_at: string;
            next_sync: string | null;
            error: {
                code: string;
                message: string;
                /** Format: date-time */
                at: string;
                retryable: boolean;
            } | null;
        };
        DataSourceStatus: {
            data_source_id: string;
            /** @enum {string} */
            type: "ga4" | "shopify" | "meta_ads" | "google_ads" | "csv_upload";
            /** @enum {string} */
            status: "connected" | "syncing" | "error";
            name: string;
            /** @enum {string} */
            sync_schedule: "daily" | "weekly" | "realtime";
            last_sync: string | null;
            next_sync: string | null;
            first_sync_eta: string | null;
            records_synced: number;
            health_score: number | null;
            coverage: {
                earliest: string | null;
                latest: string | null;
                missing_days: string[];
            } | null;
            freshness_seconds: number | null;
            records: {
                touchpoints: number;
                conversions: number;
                spend_rows: number;
                paths: number;
                identities: number;
                fx_rates: number;
                rejected: number;
            } | null;
            quality: {
                touchpoint_match_rate: number | null;
                unattributed_share: number | null;
                duplicate_rate: number | null;
                user_match_rate: number | null;
                stitched_user_match_rate: number | null;
            } | null;
            current_sync: {
                sync_id: string;
                progress: number | null;
                /** Format: date-time */
                started_at: string;
                rows: number;
                bytes: number;
            } | null;
            last_error: {
                code: string;
                message: string;
                /** Format: date-time */
                at: string;
                retryable: boolean;
            } | null;
            recent_syncs: {
                sync_id: string;
                data_source_id: string;
                status: string;
                rows: number;
                /** Format: date-time */
                requested_at: string;
                /** Format: date-time */
                started_at: string;
                completed_at: string | null;
                error: {
                    code: string;
                    message: string;
                    /** Format: date-time */
                    at: string;
                    retryable: boolean;
                } | null;
            }[];
            agent_id: string | null;
            workspace_id: string | null;
            brand_id: string | null;
            start_date: string | null;
            currency: string | null;
            baseline_channels: string[];
            margin: number | null;
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        UploadOptions: {
            /** @description Canonical column to the column of the file, such as {"order_id":"Bestellnummer"} */
            mapping?: {
                [key: string]: string;
            };
            /** @description Canonical column to the value of all rows, such as {"channel":"meta_ads"} */
            constants?: {
                [key: string]: string;
            };
            /** @description Which export of which vendor it is, such as shopify_orders; told from the header when absent */
            preset?: string;
            /** @description How numbers and dates are written, such as de-DE, where the file can be read in two ways */
            locale?: string;
            /** @description IANA time zone of times that say none; UTC when absent */
            timezone?: string;
            /** @description Currency of amounts that name none, ISO 4217 */
            currency?: string;
            /** @description Answers to the questions of a dry run, by the id of the question */
            answers?: {
                [key: string]: string;
            };
        };
        StoredReject: {
            line: number;
            column: string | null;
            code: string;
            message: string;
            upload_id: string | null;
        };
        DataSourceQualityReportAnswer: {
            /** @enum {string} */
            status: "good" | "warning" | "blocking";
            /** @description What was found, the worst first; empty where nothing was */
            checks: components["schemas"]["DataQualityCheck"][];
            trust: components["schemas"]["TrustEnvelope"];
        };
        ChannelRulesAnswer: {
            /** @description The first that matches counts */
            rules: components["schemas"]["ChannelRule"][];
            trust: components["schemas"]["TrustEnvelope"];
        };
        ChannelRule: {
            match: components["schemas"]["ChannelMatch"];
            /** @description What the channel of such rows is called */
            channel: string;
        };
        ChannelMatch: {
            /** @description The channel as the file calls it */
            channel?: string;
            /** @description Source of a touch, such as utm_source */
            source?: string;
            /** @description Medium of a touch, such as utm_medium */
            medium?: string;
            /** @description Host that the visitor of a touch came from; scheme, path and www. do not count */
            referrer?: string;
            /** @description Kind of click id of a touch, such as gclid */
            click_id?: string;
            /** @description Regular expression (RE2) that is found anywhere in the campaign; cases differ unless it begins with (?i) */
            campaign_regex?: string;
        };
        ExperimentAnswer: {
            id: string;
            data_source_id: string;
            /** @description As in the touchpoints; several by what they are called together */
            channel: string;
            /** @description The channels that were measured: one, or several that were kept away together */
            channels: string[];
            /** @enum {string} */
            method: "holdout" | "geo";
            period: [
                string,
                string
            ];
            /** @description Revenue that the channel added in the period, for the whole shop */
            incremental_revenue: number;
            standard_error: number;
            currency: string;
            notes: string | null;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        Experiment: {
            id: string;
            data_source_id: string;
            /** @description As in the touchpoints; several by what they are called together */
            channel: string;
            /** @description The channels that were measured: one, or several that were kept away together */
            channels: string[];
            /** @enum {string} */
            method: "holdout" | "geo";
            period: [
                string,
                string
            ];
            /** @description Revenue that the channel added in the period, for the whole shop */
            incremental_revenue: number;
            standard_error: number;
            currency: string;
            notes: string | null;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            created_at: string;
        };
        ExperimentDesign: {
            /** @description The channel; several by what they are called together */
            channel: string;
            /** @description What is to be kept away: one channel, or all that can be, together */
            channels: string[];
            /** @enum {string} */
            method: "holdout" | "geo";
            share_held_out: number;
            duration_days: number;
            /** @description Revenue of the whole shop in the days of the test that it finds with the power asked for, at 5 % */
            smallest_detectable_effect: number;
            /** @description Of the effect on the whole shop in the days of the test */
            expected_standard_error: number;
            /** @description What the held-out people are expected to order less; the spend that is saved on them is not counted */
            lost_revenue: number;
            decision: {
                /** @description Of the credit in the range, as the analysis has it; null where the channel is not measurable */
                current_interval: {
                    lower: number;
                    upper: number;
                    level: number;
                } | null;
                /** @description What pays for the spend of the range: the spend, divided by the margin where the analysis has one. Whoever brings less does not earn it back */
                breakeven_revenue: number;
                /** @description What keeping or stopping by the test is expected to gain over deciding now, in the year that follows it, less lost_revenue; with a margin profit, and less what of it would be left. Below 0 the test costs more than it tells */
                value_of_information: number;
            };
            rank: number;
        };
        AgentProfile: {
            agent_id: string;
            agent_uuid: string;
            name: string;
            operator_id: string | null;
            operator_email: string | null;
            capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
            referral_code: string;
            tier: string;
            trust_score: number;
            /** @description Live calls with the keys and tokens of its own account */
            total_api_calls: number;
            /** @deprecated */
            total_calls: number;
            total_delta_r_cents: number;
            /** @deprecated */
            total_delta_r: number;
            /** @description Those that it made itself; they decide its tier */
            active_referrals: number;
            /** @deprecated */
            referral_count: number;
            /** @description The tier above; null at the highest */
            next_tier: {
                name: string;
                referrals_needed: number;
            } | null;
            /** @description Commissions so far, less what was taken back, in USD; GET /commissions has those in other currencies */
            total_commission_earned_cents: number;
            rate_limits: {
                requests_per_minute: number;
                /** @description Null means unlimited */
                daily_limit: number | null;
            };
            /** @description Receives commission notifications */
            callback_url: string | null;
            /** @description Where OAuth may send resource owners back to */
            redirect_uris: string[];
            /** @description An OAuth client that cannot keep a secret */
            public: boolean;
            /** @enum {string} */
            status: "active" | "suspended" | "closed";
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        UpdatedAgentProfile: {
            agent_id: string;
            agent_uuid: string;
            name: string;
            operator_id: string | null;
            operator_email: string | null;
            capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
            referral_code: string;
            tier: string;
            trust_score: number;
            /** @description Live calls with the keys and tokens of its own account */
            total_api_calls: number;
            /** @deprecated */
            total_calls: number;
            total_delta_r_cents: number;
            /** @deprecated */
            total_delta_r: number;
            /** @description Those that it made itself; they decide its tier */
            active_referrals: number;
            /** @deprecated */
            referral_count: number;
            /** @description The tier above; null at the highest */
            next_tier: {
                name: string;
                referrals_needed: number;
            } | null;
            /** @description Commissions so far, less what was taken back, in USD; GET /commissions has those in other currencies */
            total_commission_earned_cents: number;
            rate_limits: {
                requests_per_minute: number;
                /** @description Null means unlimited */
                daily_limit: number | null;
            };
            /** @description Receives commission notifications */
            callback_url: string | null;
            /** @description Where OAuth may send resource owners back to */
            redirect_uris: string[];
            /** @description An OAuth client that cannot keep a secret */
            public: boolean;
            /** @enum {string} */
            status: "active" | "suspended" | "closed";
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
            /** @description Signs the notifications to callback_url; shown once, when the first address is set */
            callback_secret?: string;
        };
        /** @description Others see agent_id, name, capabilities, tier, trust_score and created_at. */
        SeenAgent: {
            agent_id: string;
            agent_uuid?: string;
            name: string;
            operator_id?: string | null;
            operator_email?: string | null;
            capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
            referral_code?: string;
            tier: string;
            trust_score: number;
            /** @description Live calls with the keys and tokens of its own account */
            total_api_calls?: number;
            /** @deprecated */
            total_calls?: number;
            total_delta_r_cents?: number;
            /** @deprecated */
            total_delta_r?: number;
            /** @description Those that it made itself; they decide its tier */
            active_referrals?: number;
            /** @deprecated */
            referral_count?: number;
            /** @description The tier above; null at the highest */
            next_tier?: {
                name: string;
                referrals_needed: number;
            } | null;
            /** @description Commissions so far, less what was taken back, in USD; GET /commissions has those in other currencies */
            total_commission_earned_cents?: number;
            rate_limits?: {
                requests_per_minute: number;
                /** @description Null means unlimited */
                daily_limit: number | null;
            };
            /** @description Receives commission notifications */
            callback_url?: string | null;
            /** @description Where OAuth may send resource owners back to */
            redirect_uris?: string[];
            /** @description An OAuth client that cannot keep a secret */
            public?: boolean;
            /** @enum {string} */
            status?: "active" | "suspended" | "closed";
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        CapabilitiesUpdate: {
            agent_id: string;
            capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
            /** Format: date-time */
            updated_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        AgentUsageAnswer: {
            /** @description The agent of the account; null where it has none */
            agent_id: string | null;
            period: string;
            /** @description ISO 4217, of all amounts here */
            currency: string;
            /** @description Currencies that have figures, too, and are not here */
            other_currencies: string[];
            /** @description Calls that were answered, as breakdown adds up */
            total_calls: number;
            /** @description Analyses that were charged */
            billable_analyses: number;
            /** @description Recovered revenue, repetitions apart */
            total_delta_r: number;
            /** @description Fees of analyses that are a share of the recovered revenue */
            platform_fee: number;
            /**
             * @deprecated
             * @description Fees of analyses that are a share of the recovered revenue
             */
            total_platform_fees: number;
            /** @description Fees of analyses that are the floor */
            floor_fees: number;
            /** @description Prices of plans that fell due, USD */
            plan_fees: number;
            /** @description platform_fee + floor_fees + plan_fees */
            total_billed: number;
            /** @description Commissions of the period, less what was taken back */
            commission_earned: number;
            /** @description The busiest first */
            breakdown: components["schemas"]["EndpointUsage"][];
            trust: components["schemas"]["TrustEnvelope"];
        };
        EndpointUsage: {
            endpoint: string;
            calls: number;
            /** @description Those of them that were answered with 4xx or 5xx */
            errors: number;
            /** @description Analyses that were charged, by whichever door they came */
            billable: number;
            /** @description What 95 % of the calls did not take longer than, ms, up to 19 % too high; null without calls */
            p95_ms: number | null;
            /** @description Fees of those analyses, floors included */
            platform_fee: number;
        };
        Referral: {
            referred_agent_id: string;
            referred_agent_name: string;
            /** @enum {string} */
            status: "pending" | "active" | "churned";
            chain_depth: number;
            /** @description Recovered revenue of the referred agent that has counted so far, USD */
            accumulated_delta_r: number;
            /** @description Part of the 1,000 USD that make it active */
            activation_progress: number;
            /** @description What it has earned its referrer so far, less what was taken back, USD */
            commission_earned: number;
            /** Format: date-time */
            created_at: string;
            activated_at: string | null;
            /** @description When its commissions end: 12 months after activation */
            expires_at: string | null;
        };
        Commission: {
            id: string;
            agent_id: string;
            /** @enum {string} */
            type: "l1_referral" | "l2_referral" | "brand_serving" | "clawback" | "adjustment";
            /** @description The agent that served the analysis */
            source_agent_id: string;
            /** @description Negative where something is taken back */
            amount_cents: number;
            /** @description ISO 4217, of the fee */
            currency: string;
            /** @description Recovered revenue of the analysis */
            delta_r_cents: number;
            /** @description Share of the fee, as it was then: 0.1 is 10 % */
            rate: number;
            /** @description The analysis whose fee it is on */
            analysis_id: string | null;
            /** @description The entry that this one takes back */
            reverses: string | null;
            /** @description Its place in the ledger of the agent, from 1 without gaps */
            sequence: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description From when on it can be paid
             */
            payable_at: string;
            /** @enum {string} */
            status: "provisional" | "payable" | "paid" | "reversed";
            paid_at: string | null;
            /** @description Hash of the entry before; sha256: and 64 zeros for the first */
            previous_hash: string;
            /** @description SHA-256 of previous_hash, a line feed, and the canonical JSON (RFC 8785) of the entry without ledger_hash, status and paid_at */
            ledger_hash: string;
        };
        CommissionVerification: {
            /** @description Whether the entry has the hash that follows from it, and the one that was given */
            valid: boolean;
            /** @description Whether every entry of the ledger has its hash, is linked to the one before, and is the one that the audit log has seen */
            chain_intact: boolean;
            commission_id: string;
            /** Format: date-time */
            verified_at: string;
            /** @description The hash that follows from the entry as it is */
            computed_hash: string;
            /** @description Entries of the ledger */
            chain_length: number;
            /** @description The first entry that is not right; null for an intact ledger */
            first_broken_sequence: number | null;
            trust: components["schemas"]["TrustEnvelope"];
        };
        NewApiKey: {
            id: string;
            /** @description Shown only here */
            key: string;
            prefix: string;
            last4: string;
            /** @enum {string} */
            env: "live" | "test";
            /** @enum {string} */
            type: "sk" | "pk";
            /** Format: date-time */
            created_at: string;
            /** @description A refresh of the grant that made it moves it */
            expires_at: string | null;
        };
        ApiKey: {
            id: string;
            /** @description Links a live key and its test twin; null for the key that an agent was registered with */
            key_pair_id: string | null;
            name: string | null;
            /** @enum {string} */
            env: "live" | "test";
            /** @enum {string} */
            type: "sk" | "pk";
            prefix: string;
            last4: string;
            scopes: ("attribution:read" | "attribution:write" | "channels:read" | "journeys:read" | "campaigns:read" | "health:read" | "billing:read" | "referrals:read" | "referrals:write" | "audit:read")[];
            /** @description CIDR ranges; null lets every address in */
            allowed_ips: string[] | null;
            /** @enum {string} */
            status: "active" | "rotating" | "revoked" | "expired";
            /** Format: date-time */
            created_at: string;
            last_used_at: string | null;
            /** @description By itself, or with what it ends with, as things are */
            expires_at: string | null;
            /** @description What else ends it, by its time or by revocation: the key that made it, or the grant of the token that did */
            ends_with: ("key" | "grant") | null;
            rotated_to: string | null;
            grace_ends_at: string | null;
        };
        KeyRotation: {
            id: string;
            /** @description Shown only here */
            key: string;
            prefix: string;
            last4: string;
            /** @description The key that was replaced: the newest of its line, which may be a successor of the one in the path */
            previous_key_id: string;
            /** Format: date-time */
            previous_key_expires_at: string;
            /** Format: date-time */
            rotated_at: string;
            /** @description Of the agent behind the key; null for keys without one */
            trust_score: number | null;
            trust: components["schemas"]["TrustEnvelope"];
        };
        TokenResponse: {
            /** @description Opaque: svc_at_ and 43 characters */
            access_token: string;
            /** @constant */
            token_type: "Bearer";
            /** @description Seconds; 3600, unless the key behind it ends earlier */
            expires_in: number;
            /** @description Opaque: svc_rt_ and 43 characters; works once, for 30 days */
            refresh_token: string;
            /** @description Separated by spaces */
            scope: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        AuditEvent: {
            chain_id: string;
            sequence: number;
            event_id: string;
            event_type: string;
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            /** Format: date-time */
            occurred_at: string;
            actor: {
                /** @enum {string} */
                type: "agent" | "key" | "system" | "anonymous";
                id: string | null;
                ip_hash: string | null;
                user_agent: string | null;
            };
            target: {
                type: string;
                id: string;
            } | null;
            /** @enum {string} */
            outcome: "success" | "failure";
            /** @enum {string} */
            environment: "live" | "sandbox";
            request_id: string;
            details: {
                [key: string]: unknown;
            };
            previous_hash: string;
            /** @description SHA-256 of previous_hash, a line feed, and the canonical JSON (RFC 8785) of the entry without hash */
            hash: string;
        };
        AuditChainVerification: {
            chain_intact: boolean;
            /** @description Entries found right, up to the first that is not */
            entries_verified: number;
            /** Format: date-time */
            verified_at: string;
            first_broken_sequence: number | null;
            /** @description Null when intact */
            reason: ("missing" | "altered" | "head_mismatch" | "head_unproven" | "heads_missing") | null;
            /** @description Signed heads in the range that the chain agrees with */
            heads_matched: number;
            /** @description Last entry that a signed head vouches for; null where none was signed yet */
            signed_through: number | null;
            trust: components["schemas"]["TrustEnvelope"];
        };
        WorkspaceAnswer: {
            workspace_id: string;
            name: string;
            /** @enum {string} */
            region: "eu" | "us" | "apac";
            brand_ids: string[];
            /**
             * @description What the caller may do in it
             * @enum {string}
             */
            role: "owner" | "analyst" | "viewer" | "auditor";
            members: components["schemas"]["WorkspaceMember"][];
            /** Format: date-time */
            created_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        WorkspaceMember: {
            agent_id: string;
            /** @enum {string} */
            role: "owner" | "analyst" | "viewer" | "auditor";
            /** @description Agent or key that added the member */
            added_by: string;
            /** Format: date-time */
            added_at: string;
        };
        Workspace: {
            workspace_id: string;
            name: string;
            /** @enum {string} */
            region: "eu" | "us" | "apac";
            brand_ids: string[];
            /**
             * @description What the caller may do in it
             * @enum {string}
             */
            role: "owner" | "analyst" | "viewer" | "auditor";
            members: components["schemas"]["WorkspaceMember"][];
            /** Format: date-time */
            created_at: string;
        };
        WorkspaceMembership: {
            workspace_id: string;
            agent_id: string;
            /** @enum {string} */
            role: "owner" | "analyst" | "viewer" | "auditor";
            /** @description Agent or key that added the member */
            added_by: string;
            /** Format: date-time */
            added_at: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        WebhookSecretAnswer: {
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            events: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed" | "*")[];
            active: boolean;
            metadata: {
                [key: string]: string;
            };
            /** @description The beginning of the secret */
            secret_prefix: string;
            /** @description Version that the messages follow: that of the request which made the webhook */
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Why it was switched off by itself */
            disabled_reason: ("gone" | "consecutive_failures" | "grant_ended" | "key_ended") | null;
            stats: {
                /** @description Events that arrived */
                delivered: number;
                /** @description Events that were given up after their last attempt */
                failed: number;
                last_success_at: string | null;
                /** @description Of an attempt */
                last_failure_at: string | null;
            };
            /** @description Shown only here and where it was set: keep it */
            secret?: string;
            trust: components["schemas"]["TrustEnvelope"];
        };
        Webhook: {
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            events: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed" | "*")[];
            active: boolean;
            metadata: {
                [key: string]: string;
            };
            /** @description The beginning of the secret */
            secret_prefix: string;
            /** @description Version that the messages follow: that of the request which made the webhook */
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Why it was switched off by itself */
            disabled_reason: ("gone" | "consecutive_failures" | "grant_ended" | "key_ended") | null;
            stats: {
                /** @description Events that arrived */
                delivered: number;
                /** @description Events that were given up after their last attempt */
                failed: number;
                last_success_at: string | null;
                /** @description Of an attempt */
                last_failure_at: string | null;
            };
        };
        WebhookAnswer: {
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            events: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed" | "*")[];
            active: boolean;
            metadata: {
                [key: string]: string;
            };
            /** @description The beginning of the secret */
            secret_prefix: string;
            /** @description Version that the messages follow: that of the request which made the webhook */
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Why it was switched off by itself */
            disabled_reason: ("gone" | "consecutive_failures" | "grant_ended" | "key_ended") | null;
            stats: {
                /** @description Events that arrived */
                delivered: number;
                /** @description Events that were given up after their last attempt */
                failed: number;
                last_success_at: string | null;
                /** @description Of an attempt */
                last_failure_at: string | null;
            };
            trust: components["schemas"]["TrustEnvelope"];
        };
        DeletedWebhook: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
            trust: components["schemas"]["TrustEnvelope"];
        };
        WebhookTest: {
            delivered: boolean;
            /** @enum {string} */
            event_type: "attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed";
            delivery: components["schemas"]["WebhookDelivery"];
            trust: components["schemas"]["TrustEnvelope"];
        };
        WebhookDelivery: {
            id: string;
            /** @description The same in every attempt at the event */
            event_id: string;
            /** @enum {string} */
            event_type: "attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed";
            attempt: number;
            /** @enum {string} */
            status: "pending" | "success" | "failed";
            /** Format: uri */
            url: string;
            response_status: number | null;
            response_time_ms: number | null;
            /** @description First kilobyte of the answer */
            response_body: string | null;
            error: ("timeout" | "dns" | "tls" | "connection" | "blocked_address" | "http_error") | null;
            /** Format: date-time */
            scheduled_at: string;
            sent_at: string | null;
            completed_at: string | null;
            next_attempt_at: string | null;
            /** @description As they were sent */
            request_headers: {
                [key: string]: string;
            } | null;
            test: boolean;
        };
        WebhookRedelivery: {
            delivery: components["schemas"]["WebhookDelivery"];
            trust: components["schemas"]["TrustEnvelope"];
        };
        Plan: {
            plan_id: string;
            name: string;
            /** @description Null where the price is agreed by contract or per analysis */
            price_cents: number | null;
            currency: string;
            interval: ("month" | "one_time") | null;
            trial_days: number | null;
            per_analysis_fee: {
                rate: number;
                floor_cents: number;
            } | null;
            limits: {
                requests_per_minute: number | null;
                daily_limit: number | null;
            };
            features: string[];
            self_serve: boolean;
            current: boolean;
        };
        ValueProof: {
            receipt_id: string;
            analysis_id: string;
            revenue_lastclick_cents: number;
            revenue_causal_cents: number;
            /** @description Recovered revenue, which the fee rests on */
            delta_r_cents: number;
            /** @description What it was charged; in the sandbox what a live one would cost */
            platform_fee_cents: number;
            /** @description False where nothing is charged: in the sandbox, on plans without a fee, for repetitions */
            billed: boolean;
            /** @description The equal analysis that came first, whose recovered revenue this is */
            repeats: string | null;
            /** @description ISO 4217, of all cents here */
            currency: string;
            /** @description All of the above and when it was made, signed: a compact JWS of the type svc-receipt+jwt */
            signed_receipt: string;
            /** Format: date-time */
            created_at: string;
        };
        BillingSummaryAnswer: {
            period: string;
            /** @description ISO 4217, of all amounts here */
            currency: string;
            /** @description Currencies that have figures, too, and are not here */
            other_currencies: string[];
            currency_symbol: string;
            /** @description Recovered revenue of the completed live analyses, repetitions apart */
            total_delta_r_cents: number;
            /** @description Fees of analyses with 2.00 of recovered revenue or more */
            platform_fee_cents: number;
            /** @description Fees of analyses with less, each the floor of 0.10 */
            floor_fee_cents: number;
            /** @description Prices of plans that fell due, USD */
            plan_fee_cents: number;
            /** @description The three together */
            total_billed_cents: number;
            /** @description Completed live analyses, also those that cost nothing */
            analyses_count: number;
            /** @description total_billed_cents / total_delta_r_cents; 0 without recovered revenue */
            effective_rate: number;
            /** @enum {string} */
            status: "accruing" | "invoiced" | "paid" | "past_due" | "void" | "none";
            /** @description Of the month, once it is closed */
            invoice_id: string | null;
            /** @description Of that invoice */
            due_date: string | null;
            /** @description What the account wants to spend in a month at most */
            spend_limit_cents: number | null;
            /** @description The dearest first */
            by_model: components["schemas"]["ModelBill"][];
            trust: components["schemas"]["TrustEnvelope"];
        };
        ModelBill: {
            /** @description Null for analyses charged before it was kept */
            model: string | null;
            analyses_count: number;
            total_delta_r_cents: number;
            total_billed_cents: number;
        };
        BillingUsageAnswer: {
            period: string;
            /** @description ISO 4217, of all amounts here */
            currency: string;
            /** @description Currencies that have figures, too, and are not here */
            other_currencies: string[];
            /** @description Fees of analyses, and of plans that fell due, so far */
            spend_cents: number;
            /** @description What the account wants to spend in a month at most */
            spend_limit_cents: number | null;
            /** @description Of the limit, never below 0; null without one */
            remaining_cents: number | null;
            /** @description Recovered revenue so far, repetitions apart */
            delta_r_cents: number;
            /** @description Commissions of the month so far, less what was taken back; null in a workspace */
            commission_earned_cents: number | null;
            /** @description Completed live analyses, also those that cost nothing */
            analyses_count: number;
            /** @description Spend of the whole month, if analyses go on costing what they did: their fees so far × length of the month / what has passed of it, a day at least; plan fees as they are */
            projected_spend_cents: number;
            trust: components["schemas"]["TrustEnvelope"];
        };
        SpendLimitAnswer: {
            /** @description Of each currency by itself; null for no limit */
            monthly_limit_cents: number | null;
            /** @enum {string} */
            action: "block" | "notify";
            /** @description ISO 4217, of the spend here */
            currency: string;
            /** @description Currencies that the month has figures in, too */
            other_currencies: string[];
            /** @description Of the running month, in the whole account */
            current_spend_cents: number;
            /** @description Never below 0; null for no limit */
            remaining_cents: number | null;
            /**
             * Format: date-time
             * @description When the next month begins, UTC
             */
            resets_at: string;
            /** @description The lowest first */
            alert_thresholds: number[];
            trust: components["schemas"]["TrustEnvelope"];
        };
        PaymentMethod: {
            /**
             * @description invoice, and what the installation takes besides
             * @enum {string}
             */
            type: "invoice" | "card" | "wallet";
            /** @description Of the provider; with a test key, tok_fail is refused */
            token?: string;
        };
        SubscriptionAnswer: {
            subscription_id: string;
            /** @description Of the price list */
            plan_id: string;
            /** @enum {string} */
            status: "pending" | "trialing" | "active" | "past_due" | "canceled";
            /** Format: date-time */
            started_at: string;
            /** @description Null without a fixed price */
            current_period_start: string | null;
            /** @description When it is renewed, or ends */
            current_period_end: string | null;
            /** @description Null for plans that are no trial */
            trial_ends_at: string | null;
            /** @description Whether it ends with its period */
            cancel_at_period_end: boolean;
            /** @description Plan of the account afterwards; null where it goes on */
            next_plan_id: string | null;
            /**
             * @description How it is paid
             * @enum {string}
             */
            payment_method: "invoice" | "card" | "wallet";
            /** @description ISO 4217, of its price */
            currency: string;
            /** @description What this period costs; 0 where nothing is due */
            amount_due_cents: number;
            /** @description Of that amount, once its month is closed */
            invoice_id: string | null;
            /** @description As it was given */
            workspace_id: string | null;
            trust: components["schemas"]["TrustEnvelope"];
        };
        Invoice: {
            invoice_id: string;
            /** @description The month, such as 2026-02 */
            period: string;
            /** @description ISO 4217, of all cents here: each currency has its own invoice */
            currency: string;
            /** @enum {string} */
            status: "invoiced" | "past_due" | "paid" | "void";
            /** @description Name of the account, else its e-mail or operator id */
            billed_to: string | null;
            /** @description Completed live analyses of the month, also those that cost nothing */
            analyses_count: number;
            /** @description As in the bill of the month */
            platform_fee_cents: number;
            /** @description As in the bill of the month */
            floor_fee_cents: number;
            /** @description As in the bill of the month */
            plan_fee_cents: number;
            /** @description What is to be paid */
            total_billed_cents: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date
             * @description Last day on which it is paid in time
             */
            due_date: string;
            /** @description When it was paid, or made void */
            settled_at: string | null;
            /** @description How it was paid */
            payment_method: ("invoice" | "card" | "wallet") | null;
        };
        InvoiceAnswer: {
            invoice_id: string;
            /** @description The month, such as 2026-02 */
            period: string;
            /** @description ISO 4217, of all cents here: each currency has its own invoice */
            currency: string;
            /** @enum {string} */
            status: "invoiced" | "past_due" | "paid" | "void";
            /** @description Name of the account, else its e-mail or operator id */
            billed_to: string | null;
            /** @description Completed live analyses of the month, also those that cost nothing */
            analyses_count: number;
            /** @description As in the bill of the month */
            platform_fee_cents: number;
            /** @description As in the bill of the month */
            floor_fee_cents: number;
            /** @description As in the bill of the month */
            plan_fee_cents: number;
            /** @description What is to be paid */
            total_billed_cents: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date
             * @description Last day on which it is paid in time
             */
            due_date: string;
            /** @description When it was paid, or made void */
            settled_at: string | null;
            /** @description How it was paid */
            payment_method: ("invoice" | "card" | "wallet") | null;
            trust: components["schemas"]["TrustEnvelope"];
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
            /** Format: date */
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** Format: date-time */
            time: string;
            uptime_seconds: number;
            checks: {
                [key: string]: {
                    /** @enum {string} */
                    status: "ok" | "degraded" | "down";
                    latency_ms?: number;
                    threads?: number;
                    queue_depth?: number;
                    reason?: string;
                };
            };
            trust: components["schemas"]["TrustEnvelope"];
        };
        /**
         * attribution.completed
         * @description An analysis has finished; one that failed says so in status and failure.
         */
        AttributionCompletedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "attribution.completed";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                id: string;
                /** @enum {string} */
                status: "pending" | "processing" | "completed" | "failed";
                /** @enum {string} */
                model: "causal" | "markov" | "shapley" | "dominance" | "rwa" | "prav";
                data_source_id: string;
                /** @description Of several sources, the first included */
                data_source_ids?: string[];
                date_range: [
                    string,
                    string
                ];
                delta_r_cents: number | null;
                /** @description What Delta_R is counted from */
                revenue_causal_cents: number | null;
                /** @description The same revenue by last click */
                revenue_lastclick_cents: number | null;
                /** @description What it is going to be charged by the plan; 0 for a repetition */
                platform_fee_cents: number | null;
                /** @description Of the source, and so of its cents; null without figures */
                currency: string | null;
                confidence: number | null;
                /** @description The five with the most attributed revenue */
                top_channels: {
                    channel: string;
                    causal_lift: number | null;
                    roi: number | null;
                    spend: number;
                    attributed_revenue: number;
                    confidence: number | null;
                }[];
                hrei_score: number | null;
                /** @description The agent that served the source */
                agent_id: string | null;
                /** @description Of the rows within reach and of what was asked: equal ones are repetitions */
                input_digest: string | null;
                /** @description Of a failed analysis */
                failure?: {
                    code: string;
                    message: string;
                };
                /**
                 * Format: uri
                 * @description Where the whole result can be read
                 */
                url: string;
            };
        };
        /**
         * attribution.updated
         * @description Late rows have changed the revenue of an analysis with auto_refresh, and it was run again.
         */
        AttributionUpdatedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "attribution.updated";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                id: string;
                /** @enum {string} */
                status: "pending" | "processing" | "completed" | "failed";
                /** @enum {string} */
                model: "causal" | "markov" | "shapley" | "dominance" | "rwa" | "prav";
                data_source_id: string;
                /** @description Of several sources, the first included */
                data_source_ids?: string[];
                date_range: [
                    string,
                    string
                ];
                delta_r_cents: number | null;
                /** @description What Delta_R is counted from */
                revenue_causal_cents: number | null;
                /** @description The same revenue by last click */
                revenue_lastclick_cents: number | null;
                /** @description What it is going to be charged by the plan; 0 for a repetition */
                platform_fee_cents: number | null;
                /** @description Of the source, and so of its cents; null without figures */
                currency: string | null;
                confidence: number | null;
                /** @description The five with the most attributed revenue */
                top_channels: {
                    channel: string;
                    causal_lift: number | null;
                    roi: number | null;
                    spend: number;
                    attributed_revenue: number;
                    confidence: number | null;
                }[];
                hrei_score: number | null;
                /** @description The agent that served the source */
                agent_id: string | null;
                /** @description Of the rows within reach and of what was asked: equal ones are repetitions */
                input_digest: string | null;
                /** @description Of a failed analysis */
                failure?: {
                    code: string;
                    message: string;
                };
                /**
                 * Format: uri
                 * @description Where the whole result can be read
                 */
                url: string;
                revision: number;
                /** @description Minor units */
                previous_delta_r_cents: number;
                /** @constant */
                reason: "late_data";
            };
        };
        /**
         * health.alert
         * @description The health score of a source fell below 60, or by 15 points within 7 days. Nothing sends it yet.
         */
        HealthAlertEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "health.alert";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                data_source_id: string;
                score: number;
                /** @enum {string} */
                grade: "A" | "B" | "C" | "D" | "F";
                previous_score: number | null;
                threshold: number;
                reason: string;
            };
        };
        /**
         * health.recovered
         * @description The health score is at 65 or more after an alert. Nothing sends it yet.
         */
        HealthRecoveredEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "health.recovered";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                data_source_id: string;
                score: number;
                /** @enum {string} */
                grade: "A" | "B" | "C" | "D" | "F";
                previous_score: number | null;
                threshold: number;
                reason: string;
            };
        };
        /**
         * forecast.ready
         * @description A forecast has finished. Nothing sends it yet.
         */
        ForecastReadyEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "forecast.ready";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                id: string;
                /** @enum {string} */
                metric: "revenue" | "conversions" | "spend" | "delta_r";
                horizon_days: number;
                summary: {
                    [key: string]: unknown;
                };
                /** Format: uri */
                url: string;
            };
        };
        /**
         * journey.milestone
         * @description The converting journeys of a source have passed 1,000, 10,000, 100,000 or 1,000,000. Nothing sends it yet.
         */
        JourneyMilestoneEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "journey.milestone";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                data_source_id: string;
                milestone: number;
                converting_journeys: number;
                /** Format: date-time */
                reached_at: string;
            };
        };
        /**
         * campaign.anomaly
         * @description A figure of a campaign is three robust standard deviations or more from its last 28 days. Nothing sends it yet.
         */
        CampaignAnomalyEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "campaign.anomaly";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                data_source_id: string;
                campaign_id: string;
                campaign_name: string | null;
                metric: string;
                observed: number;
                expected: number;
                z_score: number;
                /** @enum {string} */
                direction: "up" | "down";
                /** Format: date */
                date: string;
            };
        };
        /**
         * billing.invoice_created
         * @description A month has closed with something to pay.
         */
        BillingInvoiceCreatedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "billing.invoice_created";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                invoice_id: string;
                period: string;
                /** @description Minor units */
                total_billed_cents: number;
                currency: string;
                /** Format: date */
                due_date: string;
            };
        };
        /**
         * billing.payment_received
         * @description A payment was booked.
         */
        BillingPaymentReceivedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "billing.payment_received";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                invoice_id: string;
                period: string;
                /** @description Minor units */
                total_billed_cents: number;
                currency: string;
                /** Format: date */
                due_date: string;
                /** Format: date-time */
                paid_at: string;
                method: string;
            };
        };
        /**
         * billing.spend_alert
         * @description The spend of the month has reached a threshold of the limit that the account set itself; once a month for each.
         */
        BillingSpendAlertEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "billing.spend_alert";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                period: string;
                currency: string;
                /** @description Part of the limit */
                threshold: number;
                /** @description Minor units */
                spend_cents: number;
                /** @description Minor units */
                monthly_limit_cents: number;
                /** @description Minor units */
                remaining_cents: number;
                /** @enum {string} */
                action: "block" | "notify";
                /** Format: date-time */
                resets_at: string;
            };
        };
        /**
         * agent.tier_changed
         * @description The number of active referrals has moved an agent to another tier.
         */
        AgentTierChangedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "agent.tier_changed";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                agent_id: string;
                previous_tier: string;
                tier: string;
                active_referrals: number;
                rate_limits: {
                    requests_per_minute: number;
                    daily_limit: number | null;
                };
            };
        };
        /**
         * commission.earned
         * @description An entry was added to the commission ledger.
         */
        CommissionEarnedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "commission.earned";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                commission: {
                    id: string;
                    agent_id: string;
                    /** @enum {string} */
                    type: "l1_referral" | "l2_referral" | "brand_serving" | "clawback" | "adjustment";
                    source_agent_id: string;
                    /** @description Minor units */
                    amount_cents: number;
                    currency: string;
                    /** @description Minor units */
                    delta_r_cents: number;
                    /** @description Share of the fee */
                    rate: number;
                    analysis_id: string | null;
                    /** @description The entry that this one takes back */
                    reverses: string | null;
                    sequence: number;
                    /** Format: date-time */
                    created_at: string;
                    /** Format: date-time */
                    payable_at: string;
                    previous_hash: string;
                    ledger_hash: string;
                };
            };
        };
        /**
         * commission.paid
         * @description Commissions were paid out.
         */
        CommissionPaidEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "commission.paid";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                payout_id: string;
                /** @description Minor units */
                amount_cents: number;
                currency: string;
                /** @description The first 400 of them */
                commission_ids: string[];
                commissions_count: number;
                /** Format: date-time */
                paid_at: string;
            };
        };
        /**
         * commission.reversed
         * @description A commission was taken back: the referred agent was gone before its 90 days were over.
         */
        CommissionReversedEvent: {
            /** @description evt_…; the same on every repeat */
            id: string;
            /** @constant */
            type: "commission.reversed";
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            api_version: string;
            /** @enum {string} */
            environment: "live" | "sandbox";
            /** @description The subscription; null for callbacks of an agent */
            webhook_id: string | null;
            /** @description As given with the subscription */
            metadata: {
                [key: string]: string;
            };
            /**
             * @description Only on what POST /webhooks/{webhook_id}/test sends
             * @constant
             */
            test?: true;
            data: {
                commission: {
                    id: string;
                    agent_id: string;
                    /** @enum {string} */
                    type: "l1_referral" | "l2_referral" | "brand_serving" | "clawback" | "adjustment";
                    source_agent_id: string;
                    /** @description Minor units */
                    amount_cents: number;
                    currency: string;
                    /** @description Minor units */
                    delta_r_cents: number;
                    /** @description Share of the fee */
                    rate: number;
                    analysis_id: string | null;
                    /** @description The entry that this one takes back */
                    reverses: string | null;
                    sequence: number;
                    /** Format: date-time */
                    created_at: string;
                    /** Format: date-time */
                    payable_at: string;
                    previous_hash: string;
                    ledger_hash: string;
                };
            };
        };
    };
    responses: {
        /** @description `internal_error`: An unexpected error */
        "callers.500.internal_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: A temporary outage */
        "callers.503.service_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `missing_nonce`: A state-changing request came without X-Nonce; `invalid_request`: The request cannot be parsed */
        "callers.400.unsupported_api_version.missing_nonce.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_api_key`: The API key or token is malformed or unknown; `expired_api_key`: The API key or token is revoked or expired */
        "callers.401.invalid_api_key.expired_api_key": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `ip_not_allowed`: The address is not on the allowlist of the key; `insufficient_permissions`: The key lacks the scope or role */
        "callers.403.ip_not_allowed.insufficient_permissions": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `rate_limit_exceeded`: Too many requests */
        "callers.429.rate_limit_exceeded": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `resource_not_found`: The resource does not exist */
        "callers.404.resource_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `validation_error`: The request does not fit the schema */
        "callers.422.validation_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running; `data_source_unavailable`: The data source cannot be analysed now */
        "callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.data_source_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_acceptable`: None of the accepted media types can be produced */
        "callers.406.not_acceptable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is larger than this operation takes */
        "callers.413.payload_too_large": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The body has a media type this operation does not take */
        "callers.415.unsupported_media_type": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `spend_limit_exceeded`: The spend limit is reached; `payment_required`: The plan or trial has lapsed */
        "callers.402.spend_limit_exceeded.payment_required": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `invalid_request`: The request cannot be parsed */
        "callers.400.unsupported_api_version.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running; `conflict`: The request conflicts with the state of the resource */
        "callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: The request conflicts with the state of the resource; `data_source_unavailable`: The data source cannot be analysed now */
        "callers.409.conflict.data_source_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: The request conflicts with the state of the resource */
        "callers.409.conflict": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: An unexpected error */
        "strangers.500.internal_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: A temporary outage */
        "strangers.503.service_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `missing_nonce`: A state-changing request came without X-Nonce; `invalid_request`: The request cannot be parsed */
        "strangers.400.unsupported_api_version.missing_nonce.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `rate_limit_exceeded`: Too many requests */
        "strangers.429.rate_limit_exceeded": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running */
        "strangers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_acceptable`: None of the accepted media types can be produced */
        "strangers.406.not_acceptable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is larger than this operation takes */
        "strangers.413.payload_too_large": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The body has a media type this operation does not take */
        "strangers.415.unsupported_media_type": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `validation_error`: The request does not fit the schema */
        "strangers.422.validation_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running */
        "callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `data_source_unavailable`: The data source cannot be analysed now */
        "callers.409.data_source_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running; `conflict`: The request conflicts with the state of the resource */
        "strangers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `validation_error`: The request does not fit the schema; `missing_nonce`: A state-changing request came without X-Nonce; `invalid_request`: The request cannot be parsed */
        "callers.400.unsupported_api_version.validation_error.missing_nonce.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: An unexpected error */
        "oauth.500.internal_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `service_unavailable`: A temporary outage */
        "oauth.503.service_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `missing_nonce`: A state-changing request came without X-Nonce; `invalid_request`: The request cannot be parsed; `unsupported_grant_type`: The grant type is not supported; `invalid_grant`: The grant is invalid, expired or used; `invalid_scope`: A requested scope is unknown or not granted */
        "oauth.400.unsupported_api_version.missing_nonce.invalid_request.unsupported_grant_type.invalid_grant.invalid_scope": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `duplicate_nonce`: The nonce was used before; `idempotency_conflict`: The idempotency key was used with other parameters; `idempotency_in_progress`: The first request with this idempotency key is still running */
        "oauth.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `not_acceptable`: None of the accepted media types can be produced */
        "oauth.406.not_acceptable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `payload_too_large`: The body is larger than this operation takes */
        "oauth.413.payload_too_large": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `unsupported_media_type`: The body has a media type this operation does not take */
        "oauth.415.unsupported_media_type": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `rate_limit_exceeded`: Too many requests */
        "oauth.429.rate_limit_exceeded": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `invalid_client`: The client is unknown or its secret is wrong */
        "oauth.401.invalid_client": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `ip_not_allowed`: The address is not on the allowlist of the key */
        "oauth.403.ip_not_allowed": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `missing_nonce`: A state-changing request came without X-Nonce; `invalid_request`: The request cannot be parsed */
        "oauth.400.unsupported_api_version.missing_nonce.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] | components["schemas"]["OauthError"];
            };
        };
        /** @description `payment_required`: The plan or trial has lapsed */
        "callers.402.payment_required": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "SVC-Environment": components["headers"]["SVC-Environment"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: An unexpected error */
        "anyone.500.internal_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: A temporary outage */
        "anyone.503.service_unavailable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_api_version`: The requested API version is unknown or retired; `invalid_request`: The request cannot be parsed */
        "anyone.400.unsupported_api_version.invalid_request": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_acceptable`: None of the accepted media types can be produced */
        "anyone.406.not_acceptable": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `validation_error`: The request does not fit the schema */
        "anyone.422.validation_error": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "SVC-API-Version": components["headers"]["SVC-API-Version"];
                "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                Deprecation: components["headers"]["Deprecation"];
                Sunset: components["headers"]["Sunset"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Unsubscribes: the webhook is switched off (disabled_reason `gone`), and nothing is sent to it. */
        "webhook.gone": {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Taken. Answer within 15 seconds, and work on the event afterwards. */
        "webhook.taken": {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Not taken, as are redirects and answers that come too late: sent again after 1 s, 5 s, 30 s, 2 min and 15 min, or later where Retry-After asks for it, at most 24 hours after the event. 20 events in a row that failed in every attempt switch the webhook off (disabled_reason `consecutive_failures`). */
        "webhook.failed": {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /** @description Page, counted from 1. page × per_page must not pass 100 000. */
        Page: number;
        /** @description Entries per page. */
        PerPage: number;
        /** @description HMAC-SHA256 of the raw body under the secret, in hex */
        "X-SVC-Signature": string;
        /** @description Type of the event */
        "X-SVC-Event": "attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed";
        /** @description Id of the attempt, dlv_… */
        "X-SVC-Delivery": string;
        /** @description Number of the attempt at this event */
        "X-SVC-Attempt": number;
        /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
        "webhook-id": string;
        /** @description When the attempt was made, seconds since 1970; refuse old ones */
        "webhook-timestamp": number;
        /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
        "webhook-signature": string;
    };
    requestBodies: {
        AttributionRequest: {
            content: {
                /**
                 * @example {
                 *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                 *       "date_range": [
                 *         "2026-01-01",
                 *         "2026-01-31"
                 *       ],
                 *       "model": "causal"
                 *     }
                 */
                "application/json": {
                    /** @description The source; exactly one of data_source_id, data_source_ids and brand_id */
                    data_source_id?: string;
                    /** @description 2 to 20 sources that are read as if they were one: one space of user ids, each order once. Currency, baseline channels, serving agent and fee are those of the first */
                    data_source_ids?: string[];
                    /** @description Stands for the sources that were connected with this brand_id, oldest first */
                    brand_id?: string;
                    /** @description UTC days, both ends inclusive, at most 731 of them. */
                    date_range: [
                        string,
                        string
                    ] | {
                        /** Format: date */
                        start: string;
                        /** Format: date */
                        end: string;
                    } | string;
                    /**
                     * @default causal
                     * @enum {string}
                     */
                    model?: "causal" | "markov" | "shapley" | "dominance" | "rwa" | "prav";
                    /**
                     * @default daily
                     * @enum {string}
                     */
                    granularity?: "daily" | "weekly" | "monthly";
                    /** @description Restricts to these channels */
                    channels?: string[];
                    /** @description Overrides those of the source */
                    baseline_channels?: string[];
                    /** @description Share of revenue that is left after the cost of goods, for profit beside revenue; overrides the cogs of orders and the margin of the source */
                    margin?: number;
                    /** @default 30 */
                    lookback_window_days?: number;
                    /** @default purchase */
                    conversion_event?: string;
                    /** @default 0.95 */
                    confidence_level?: number;
                    model_options?: {
                        markov_order?: number;
                    };
                    /** @description Codes of data_quality that are known and accepted: blocking checks of others refuse the request (data_quality_insufficient) */
                    accept_quality?: ("order_match_rate" | "user_match_rate" | "rejected_revenue" | "mixed_currencies" | "spend_without_touches" | "touches_without_spend" | "duplicate_orders" | "missing_days" | "ambiguous_dates" | "assumed_time_zone" | "bot_like_users" | "level_shift" | "campaign_coverage" | "refunds_missing")[];
                    /** @description Workspace to put the analysis into, ws_…; the one in SVC-Workspace, or that of the source, when absent */
                    workspace_id?: string;
                    /** @description The serving agent; that of the source when absent. An account without an agent may name any */
                    agent_id?: string;
                    /**
                     * @description Runs the analysis again, at no cost, whenever late rows change the revenue of its range by 0.1 % or more
                     * @default false
                     */
                    auto_refresh?: boolean;
                    /**
                     * @description Sections that the answer has beyond its base, as GET
                     * @default [
                     *       "time_series",
                     *       "model_breakdown",
                     *       "comparison",
                     *       "diagnostics"
                     *     ]
                     */
                    include?: ("time_series" | "model_breakdown" | "comparison" | "diagnostics" | "campaigns")[];
                };
            };
        };
        ChannelRulesRequest: {
            content: {
                /**
                 * @example {
                 *       "rules": [
                 *         {
                 *           "match": {
                 *             "source": "facebook",
                 *             "medium": "cpc"
                 *           },
                 *           "channel": "meta_ads"
                 *         },
                 *         {
                 *           "match": {
                 *             "channel": "Google Ads",
                 *             "campaign_regex": "(?i)brand"
                 *           },
                 *           "channel": "google_brand"
                 *         },
                 *         {
                 *           "match": {
                 *             "click_id": "gclid"
                 *           },
                 *           "channel": "google_ads"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The first that matches counts */
                    rules: components["schemas"]["ChannelRule"][];
                };
            };
        };
        ExperimentRequest: {
            content: {
                /**
                 * @example {
                 *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                 *       "channel": "meta_ads",
                 *       "method": "geo",
                 *       "period": [
                 *         "2026-01-01",
                 *         "2026-01-28"
                 *       ],
                 *       "incremental_revenue": 31250.5,
                 *       "standard_error": 4800,
                 *       "notes": "Four regions dark, sixteen as before"
                 *     }
                 */
                "application/json": {
                    data_source_id: string;
                    /** @description A channel that the source has rows of; or channels, where several were kept away together */
                    channel?: string;
                    /** @description In place of channel: channels that were kept away together, and measured as one sum */
                    channels?: string[];
                    /**
                     * @description holdout kept people away from the channel, geo places
                     * @enum {string}
                     */
                    method: "holdout" | "geo";
                    /** @description UTC days, both ends inclusive, at most 731 of them. */
                    period: [
                        string,
                        string
                    ] | {
                        /** Format: date */
                        start: string;
                        /** Format: date */
                        end: string;
                    } | string;
                    /** @description Revenue that the channel added in the period, for the whole shop; major units, may be negative */
                    incremental_revenue: number;
                    /** @description Standard error of it, major units */
                    standard_error: number;
                    /** @description That of the source; another one is refused */
                    currency?: string;
                    notes?: string;
                };
            };
        };
        AgentClosing: {
            content: {
                /**
                 * @example {
                 *       "confirm": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                 *       "reason": "moved to another platform"
                 *     }
                 */
                "application/json": {
                    /** @description The calling agent, agent_… or its UUID: what is refused where it is another */
                    confirm?: string;
                    /** @description Why, for the audit log */
                    reason?: string;
                };
            };
        };
        CapabilitiesRequest: {
            content: {
                /**
                 * @example {
                 *       "capabilities": [
                 *         "attribution",
                 *         "journey"
                 *       ]
                 *     }
                 */
                "application/json": {
                    capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
                };
            };
        };
        CommissionVerifyRequest: {
            content: {
                /**
                 * @example {
                 *       "commission_id": "com_01JQ2m7Bv4XgL9uTcPdYsG",
                 *       "ledger_hash": "sha256:5b0ad1a3c6e8f7920d4b1c5a6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091"
                 *     }
                 */
                "application/json": {
                    /** @description The entry, com_… */
                    commission_id?: string;
                    /** @description What its ledger_hash should be */
                    ledger_hash?: string;
                    /** @description The same as commission_id; also the receipt of a value proof, rcpt_… */
                    receipt_id?: string;
                    /** @description The same as ledger_hash; of a receipt sha256: and the hex SHA-256 of signed_receipt */
                    expected_hash?: string;
                };
            };
        };
        KeyRequest: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "scopes": [
                 *         "attribution:read",
                 *         "attribution:write"
                 *       ]
                 *     }
                 */
                "application/json": {
                    name?: string;
                    /** @description At most those of the calling key, which are the default */
                    scopes?: ("attribution:read" | "attribution:write" | "channels:read" | "journeys:read" | "campaigns:read" | "health:read" | "billing:read" | "referrals:read" | "referrals:write" | "audit:read")[];
                    /** @description Addresses or CIDR ranges; on the plan enterprise only */
                    allowed_ips?: string[];
                    /**
                     * Format: date-time
                     * @description When both keys end by themselves; in the future, and no later than the key or token that makes them
                     */
                    expires_at?: string;
                    /**
                     * @description Version that requests follow where they send no SVC-API-Version
                     * @enum {string}
                     */
                    api_version?: "2026-02-01" | "2025-11-01" | "2025-08-01";
                };
            };
        };
        KeyRotationRequest: {
            content: {
                /**
                 * @example {
                 *       "grace_hours": 24
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How long the old key works on
                     * @default 24
                     */
                    grace_hours?: number;
                };
            };
        };
        AuditVerifyRequest: {
            content: {
                /**
                 * @example {
                 *       "start_sequence": 1,
                 *       "end_sequence": 120
                 *     }
                 */
                "application/json": {
                    /** @default 1 */
                    start_sequence?: number;
                    /** @description The last entry when left out, or when there are fewer */
                    end_sequence?: number;
                };
            };
        };
        WorkspaceRequest: {
            content: {
                /**
                 * @example {
                 *       "name": "Spring collection",
                 *       "brand_ids": [
                 *         "brand_spring"
                 *       ]
                 *     }
                 */
                "application/json": {
                    name: string;
                    /**
                     * @description The one that this deployment serves, which is also the default; never changes
                     * @enum {string}
                     */
                    region?: "eu" | "us" | "apac";
                    /** @default [] */
                    brand_ids?: string[];
                };
            };
        };
        WorkspaceMemberRequest: {
            content: {
                /**
                 * @example {
                 *       "agent_id": "agent_01JQ2qW8nTc5YhKzFdMpRs",
                 *       "role": "analyst"
                 *     }
                 */
                "application/json": {
                    /** @description An agent of any account, agent_… or its UUID */
                    agent_id: string;
                    /** @enum {string} */
                    role: "owner" | "analyst" | "viewer" | "auditor";
                };
            };
        };
        WebhookRequest: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.spring.example/liftgraph",
                 *       "events": [
                 *         "*"
                 *       ],
                 *       "metadata": {
                 *         "shop": "spring"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uri
                     * @description https address of a public host
                     */
                    url: string;
                    /** @description Event types, each readable with the scopes of the key, or ["*"] for all that it may read, later ones included */
                    events: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed" | "*")[];
                    /** @description Signs the messages */
                    secret?: string;
                    /** @description Up to 50 texts of your own, part of every message */
                    metadata?: {
                        [key: string]: string;
                    };
                };
            };
        };
        WebhookUpdate: {
            content: {
                /**
                 * @example {
                 *       "active": false
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uri
                     * @description https address of a public host
                     */
                    url?: string;
                    /** @description Event types, each readable with the scopes of the key, or ["*"] for all that it may read, later ones included */
                    events?: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed" | "*")[];
                    active?: boolean;
                    /** @description Up to 50 texts of your own, part of every message */
                    metadata?: {
                        [key: string]: string;
                    };
                    /** @description Signs the messages */
                    secret?: string;
                };
            };
        };
        WebhookTestRequest: {
            content: {
                /**
                 * @example {
                 *       "event_type": "attribution.completed"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The first type subscribed to when nothing is said
                     * @enum {string}
                     */
                    event_type?: "attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed";
                };
            };
        };
        SpendLimitRequest: {
            content: {
                /**
                 * @example {
                 *       "monthly_limit_cents": 200000,
                 *       "action": "block"
                 *     }
                 */
                "application/json": {
                    /** @description Of each currency by itself, minor units; null takes the limit away */
                    monthly_limit_cents: number | null;
                    /**
                     * @default block
                     * @enum {string}
                     */
                    action?: "block" | "notify";
                    /**
                     * @description Parts of the limit at which billing.spend_alert is told, each once a month
                     * @default [
                     *       0.5,
                     *       0.8,
                     *       1
                     *     ]
                     */
                    alert_thresholds?: number[];
                    /** @description Of the spend in the answer; the one with the most charges of the month when absent */
                    currency?: string;
                };
            };
        };
        SubscriptionRequest: {
            content: {
                /**
                 * @example {
                 *       "plan_id": "pro_trial",
                 *       "payment_method": {
                 *         "type": "invoice"
                 *       },
                 *       "accept_terms": true
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Of the price list
                     * @enum {string}
                     */
                    plan_id: "pay_per_analysis" | "pro_trial" | "pro" | "enterprise";
                    /** @description An invoice when absent */
                    payment_method?: components["schemas"]["PaymentMethod"];
                    /** @description Workspace that it is for, ws_…, for your own records; plans are of the account as a whole */
                    workspace_id?: string;
                    /** @description That the terms and the price are accepted */
                    accept_terms: boolean;
                    /** @description Also sets this limit of a month, with action block, as POST /billing/spend-limit does */
                    spend_limit_cents?: number;
                };
            };
        };
    };
    headers: {
        /** @description Id of the request, as in errors and logs */
        "X-Request-Id": string;
        /** @description Version that the answer follows */
        "SVC-API-Version": string;
        /** @description trust.hrei_score of the answer; absent where it has not been measured */
        "SVC-HREI-Score": string;
        /** @description trust.risk_level of the answer; absent where it has not been measured */
        "SVC-HREI-Risk": string;
        /** @description Since when the version that the answer follows is deprecated (RFC 9745); absent for others */
        Deprecation: string;
        /** @description When that version ends (RFC 8594) */
        Sunset: string;
        /** @description rel="deprecation": the versions and their ends (RFC 8288) */
        Link: string;
        /** @description Windows that the call was counted in: q calls in w seconds */
        "RateLimit-Policy": string;
        /** @description What is left of each window (r), and in how many seconds (t) it begins anew */
        RateLimit: string;
        /** @description Calls in the window that binds */
        "X-RateLimit-Limit": string;
        /** @description What is left of it */
        "X-RateLimit-Remaining": string;
        /** @description Seconds until it begins anew */
        "X-RateLimit-Reset": string;
        /** @description `sandbox` for test keys; absent for others */
        "SVC-Environment": string;
        /** @description Whole seconds after which another try makes sense; at least 1 */
        "Retry-After": string;
        /** @description How to be let in (RFC 6750, RFC 9728) */
        "WWW-Authenticate": string;
        /** @description rel="first", "prev", "next" and "last": the pages of the list (RFC 8288); also rel="deprecation", see Link */
        PageLinks: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAttributions: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
                /** @example completed */
                status?: "pending" | "processing" | "completed" | "failed";
                model?: "causal" | "markov" | "shapley" | "dominance" | "rwa" | "prav";
                data_source_id?: string;
                agent_id?: string;
                created_after?: string;
                created_before?: string;
                /** @description Sections that the answer has beyond its base; null where the data cannot give one */
                include?: ("time_series" | "model_breakdown" | "comparison" | "diagnostics")[];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of analyses */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *           "status": "completed",
                     *           "model": "causal",
                     *           "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *           "date_range": [
                     *             "2026-01-01",
                     *             "2026-01-31"
                     *           ],
                     *           "channel_impact": [
                     *             {
                     *               "channel": "meta_ads",
                     *               "causal_lift": 0.3717,
                     *               "roi": 2.41,
                     *               "spend": 12000,
                     *               "attributed_revenue": 40920.11,
                     *               "confidence": 0.91,
                     *               "confidence_interval": {
                     *                 "lower": 36100.5,
                     *                 "upper": 45890.2,
                     *                 "level": 0.95
                     *               },
                     *               "lastclick_revenue": 28800,
                     *               "delta_r": 12120.11,
                     *               "incremental_revenue": 40920.11,
                     *               "conversions": 512.4,
                     *               "share": 0.271,
                     *               "roas": 3.41,
                     *               "rank": 1,
                     *               "is_baseline": false,
                     *               "profit": 5186.45,
                     *               "profit_interval": {
                     *                 "lower": 3162.21,
                     *                 "upper": 7273.88,
                     *                 "level": 0.95
                     *               },
                     *               "profit_roas": 1.4322,
                     *               "identification": {
                     *                 "status": "point",
                     *                 "reasons": []
                     *               }
                     *             }
                     *           ],
                     *           "methodology": "markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift",
                     *           "confidence": 0.88,
                     *           "created_at": "2026-02-01T09:29:58.120Z",
                     *           "trust": {
                     *             "hrei_score": 0,
                     *             "risk_level": "minimal",
                     *             "components": {
                     *               "detection": {
                     *                 "score": 0,
                     *                 "semantic_entropy": 0,
                     *                 "calibration_error": 0,
                     *                 "perplexity_anomaly": 0
                     *               },
                     *               "attribution": {
                     *                 "score": 0,
                     *                 "factual_grounding": 0,
                     *                 "knowledge_graph_divergence": 0,
                     *                 "prompt_sensitivity": 0
                     *               },
                     *               "provenance": {
                     *                 "score": 0,
                     *                 "source_retrievability": 0,
                     *                 "temporal_displacement": 0,
                     *                 "citation_reliability": 0
                     *               },
                     *               "consistency": {
                     *                 "score": 0,
                     *                 "internal_consistency": 0,
                     *                 "logical_coherence": 0,
                     *                 "cross_response_consistency": 0
                     *               },
                     *               "taxonomy": {
                     *                 "score": 0,
                     *                 "classifications": []
                     *               }
                     *             },
                     *             "verification": {
                     *               "ground_truth_source": "system_of_record",
                     *               "claims_verified": 1,
                     *               "claims_total": 1,
                     *               "confidence_intervals_included": false,
                     *               "model_run_traceable": false
                     *             },
                     *             "metadata": {
                     *               "hrei_version": "1.1.0",
                     *               "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *               "weights": {
                     *                 "detection": 0.25,
                     *                 "attribution": 0.25,
                     *                 "provenance": 0.2,
                     *                 "consistency": 0.2,
                     *                 "taxonomy": 0.1
                     *               }
                     *             }
                     *           },
                     *           "profitability": {
                     *             "margin": 0.42,
                     *             "origin": "setting"
                     *           },
                     *           "completed_at": "2026-02-01T09:30:00.000Z",
                     *           "granularity": "daily",
                     *           "channels": null,
                     *           "currency": "USD",
                     *           "environment": "live",
                     *           "revision": 1,
                     *           "conversions": 1890,
                     *           "revenue": 151004.25,
                     *           "baseline_revenue": 33854.55,
                     *           "unattributed_revenue": 5210.4,
                     *           "lookback_window_days": 30,
                     *           "conversion_event": "purchase",
                     *           "confidence_level": 0.95,
                     *           "revenue_lastclick_cents": 9842000,
                     *           "revenue_causal_cents": 11714970,
                     *           "delta_r_cents": 1872970,
                     *           "delta_r_net_cents": 1872970,
                     *           "platform_fee_cents": 93649,
                     *           "progress": 1,
                     *           "failure": null,
                     *           "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "signature": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRlZmQzZmNkZTFmNTk1YThkMjZkYWQifQ.EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 1,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        data: components["schemas"]["AttributionResult"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    runAttribution: {
        parameters: {
            query?: {
                stream?: boolean;
            };
            header?: {
                /** @description wait=N (0 to 60 seconds), respond-async (RFC 7240) */
                Prefer?: string;
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Milliseconds that the job takes longer, so that it can be watched; ignored with live keys */
                "SVC-Sandbox-Delay"?: number;
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["AttributionRequest"];
        responses: {
            /** @description The analysis, finished or not */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where an unfinished analysis can be read */
                    Location?: string;
                    /** @description Seconds to wait before reading it */
                    "Retry-After"?: string;
                    /** @description Which preferences were honoured */
                    "Preference-Applied"?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "status": "completed",
                     *       "model": "causal",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-01-31"
                     *       ],
                     *       "channel_impact": [
                     *         {
                     *           "channel": "meta_ads",
                     *           "causal_lift": 0.3717,
                     *           "roi": 2.41,
                     *           "spend": 12000,
                     *           "attributed_revenue": 40920.11,
                     *           "confidence": 0.91,
                     *           "confidence_interval": {
                     *             "lower": 36100.5,
                     *             "upper": 45890.2,
                     *             "level": 0.95
                     *           },
                     *           "lastclick_revenue": 28800,
                     *           "delta_r": 12120.11,
                     *           "incremental_revenue": 40920.11,
                     *           "conversions": 512.4,
                     *           "share": 0.271,
                     *           "roas": 3.41,
                     *           "rank": 1,
                     *           "is_baseline": false,
                     *           "profit": 5186.45,
                     *           "profit_interval": {
                     *             "lower": 3162.21,
                     *             "upper": 7273.88,
                     *             "level": 0.95
                     *           },
                     *           "profit_roas": 1.4322,
                     *           "identification": {
                     *             "status": "point",
                     *             "reasons": []
                     *           }
                     *         }
                     *       ],
                     *       "methodology": "markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift",
                     *       "confidence": 0.88,
                     *       "created_at": "2026-02-01T09:29:58.120Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       },
                     *       "profitability": {
                     *         "margin": 0.42,
                     *         "origin": "setting"
                     *       },
                     *       "completed_at": "2026-02-01T09:30:00.000Z",
                     *       "granularity": "daily",
                     *       "channels": null,
                     *       "currency": "USD",
                     *       "environment": "live",
                     *       "revision": 1,
                     *       "conversions": 1890,
                     *       "revenue": 151004.25,
                     *       "baseline_revenue": 33854.55,
                     *       "unattributed_revenue": 5210.4,
                     *       "lookback_window_days": 30,
                     *       "conversion_event": "purchase",
                     *       "confidence_level": 0.95,
                     *       "revenue_lastclick_cents": 9842000,
                     *       "revenue_causal_cents": 11714970,
                     *       "delta_r_cents": 1872970,
                     *       "delta_r_net_cents": 1872970,
                     *       "platform_fee_cents": 93649,
                     *       "time_series": [
                     *         {
                     *           "period_start": "2026-01-01",
                     *           "partial": false,
                     *           "revenue": 4871.1,
                     *           "baseline_revenue": 1092.08,
                     *           "channels": {
                     *             "meta_ads": 1320.4
                     *           }
                     *         }
                     *       ],
                     *       "model_breakdown": {
                     *         "markov": {
                     *           "meta_ads": 0.27
                     *         },
                     *         "shapley": {
                     *           "meta_ads": 0.26
                     *         }
                     *       },
                     *       "comparison": {
                     *         "last_click": {
                     *           "meta_ads": 28800
                     *         },
                     *         "first_click": {
                     *           "meta_ads": 35100
                     *         },
                     *         "linear": {
                     *           "meta_ads": 31420.5
                     *         },
                     *         "time_decay": {
                     *           "meta_ads": 30910.25
                     *         },
                     *         "position_based": {
                     *           "meta_ads": 32050
                     *         }
                     *       },
                     *       "diagnostics": {
                     *         "journeys": 48211,
                     *         "converting_journeys": 1890,
                     *         "touches": 120044,
                     *         "converged": true,
                     *         "iterations": 41,
                     *         "elapsed_ms": 812,
                     *         "seed": "6f1c2a",
                     *         "run_digest": "sha256:9b74c9897bac770ffc029102a200c5de4f1c7b1a9c2e6d1f0b7f3a5c8d9e0f12",
                     *         "warnings": [],
                     *         "tests": [
                     *           {
                     *             "code": "horizon_halved",
                     *             "channel": "meta_ads",
                     *             "status": "pass",
                     *             "estimate": -0.0124,
                     *             "interval": {
                     *               "lower": -0.0311,
                     *               "upper": 0.0063,
                     *               "level": 0.95
                     *             },
                     *             "threshold": 0.1042,
                     *             "message": "Followed for 7 days instead of 14, what it is measured to bring moves by -1.2 % of the revenue: no more than chance and its interval allow for."
                     *           }
                     *         ],
                     *         "models": {
                     *           "markov": {
                     *             "order": 2
                     *           }
                     *         },
                     *         "experiments": [
                     *           {
                     *             "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *             "channel": "meta_ads",
                     *             "channels": [
                     *               "meta_ads"
                     *             ],
                     *             "method": "geo",
                     *             "period": [
                     *               "2026-01-01",
                     *               "2026-01-28"
                     *             ],
                     *             "measured_incremental_revenue": 31250.5,
                     *             "measured_standard_error": 4800,
                     *             "incremental_revenue": 34600.2,
                     *             "standard_error": 5590.88,
                     *             "overlap": 0.9036,
                     *             "basis": "touches",
                     *             "model_incremental_revenue_before": 44210.75,
                     *             "model_incremental_revenue_after": 40920.11
                     *           }
                     *         ]
                     *       },
                     *       "progress": 1,
                     *       "failure": null,
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "signature": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRlZmQzZmNkZTFmNTk1YThkMjZkYWQifQ.EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA"
                     *     }
                     */
                    "application/json": components["schemas"]["AttributionResult"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            402: components["responses"]["callers.402.spend_limit_exceeded.payment_required"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.data_source_unavailable"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    runAttributionVariant1: {
        parameters: {
            query?: {
                stream?: boolean;
            };
            header?: {
                /** @description wait=N (0 to 60 seconds), respond-async (RFC 7240) */
                Prefer?: string;
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Milliseconds that the job takes longer, so that it can be watched; ignored with live keys */
                "SVC-Sandbox-Delay"?: number;
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["AttributionRequest"];
        responses: {
            /** @description The analysis, finished or not */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where an unfinished analysis can be read */
                    Location?: string;
                    /** @description Seconds to wait before reading it */
                    "Retry-After"?: string;
                    /** @description Which preferences were honoured */
                    "Preference-Applied"?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "status": "completed",
                     *       "model": "causal",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-01-31"
                     *       ],
                     *       "channel_impact": [
                     *         {
                     *           "channel": "meta_ads",
                     *           "causal_lift": 0.3717,
                     *           "roi": 2.41,
                     *           "spend": 12000,
                     *           "attributed_revenue": 40920.11,
                     *           "confidence": 0.91,
                     *           "confidence_interval": {
                     *             "lower": 36100.5,
                     *             "upper": 45890.2,
                     *             "level": 0.95
                     *           },
                     *           "lastclick_revenue": 28800,
                     *           "delta_r": 12120.11,
                     *           "incremental_revenue": 40920.11,
                     *           "conversions": 512.4,
                     *           "share": 0.271,
                     *           "roas": 3.41,
                     *           "rank": 1,
                     *           "is_baseline": false,
                     *           "profit": 5186.45,
                     *           "profit_interval": {
                     *             "lower": 3162.21,
                     *             "upper": 7273.88,
                     *             "level": 0.95
                     *           },
                     *           "profit_roas": 1.4322,
                     *           "identification": {
                     *             "status": "point",
                     *             "reasons": []
                     *           }
                     *         }
                     *       ],
                     *       "methodology": "markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift",
                     *       "confidence": 0.88,
                     *       "created_at": "2026-02-01T09:29:58.120Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       },
                     *       "profitability": {
                     *         "margin": 0.42,
                     *         "origin": "setting"
                     *       },
                     *       "completed_at": "2026-02-01T09:30:00.000Z",
                     *       "granularity": "daily",
                     *       "channels": null,
                     *       "currency": "USD",
                     *       "environment": "live",
                     *       "revision": 1,
                     *       "conversions": 1890,
                     *       "revenue": 151004.25,
                     *       "baseline_revenue": 33854.55,
                     *       "unattributed_revenue": 5210.4,
                     *       "lookback_window_days": 30,
                     *       "conversion_event": "purchase",
                     *       "confidence_level": 0.95,
                     *       "revenue_lastclick_cents": 9842000,
                     *       "revenue_causal_cents": 11714970,
                     *       "delta_r_cents": 1872970,
                     *       "delta_r_net_cents": 1872970,
                     *       "platform_fee_cents": 93649,
                     *       "time_series": [
                     *         {
                     *           "period_start": "2026-01-01",
                     *           "partial": false,
                     *           "revenue": 4871.1,
                     *           "baseline_revenue": 1092.08,
                     *           "channels": {
                     *             "meta_ads": 1320.4
                     *           }
                     *         }
                     *       ],
                     *       "model_breakdown": {
                     *         "markov": {
                     *           "meta_ads": 0.27
                     *         },
                     *         "shapley": {
                     *           "meta_ads": 0.26
                     *         }
                     *       },
                     *       "comparison": {
                     *         "last_click": {
                     *           "meta_ads": 28800
                     *         },
                     *         "first_click": {
                     *           "meta_ads": 35100
                     *         },
                     *         "linear": {
                     *           "meta_ads": 31420.5
                     *         },
                     *         "time_decay": {
                     *           "meta_ads": 30910.25
                     *         },
                     *         "position_based": {
                     *           "meta_ads": 32050
                     *         }
                     *       },
                     *       "diagnostics": {
                     *         "journeys": 48211,
                     *         "converting_journeys": 1890,
                     *         "touches": 120044,
                     *         "converged": true,
                     *         "iterations": 41,
                     *         "elapsed_ms": 812,
                     *         "seed": "6f1c2a",
                     *         "run_digest": "sha256:9b74c9897bac770ffc029102a200c5de4f1c7b1a9c2e6d1f0b7f3a5c8d9e0f12",
                     *         "warnings": [],
                     *         "tests": [
                     *           {
                     *             "code": "horizon_halved",
                     *             "channel": "meta_ads",
                     *             "status": "pass",
                     *             "estimate": -0.0124,
                     *             "interval": {
                     *               "lower": -0.0311,
                     *               "upper": 0.0063,
                     *               "level": 0.95
                     *             },
                     *             "threshold": 0.1042,
                     *             "message": "Followed for 7 days instead of 14, what it is measured to bring moves by -1.2 % of the revenue: no more than chance and its interval allow for."
                     *           }
                     *         ],
                     *         "models": {
                     *           "markov": {
                     *             "order": 2
                     *           }
                     *         },
                     *         "experiments": [
                     *           {
                     *             "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *             "channel": "meta_ads",
                     *             "channels": [
                     *               "meta_ads"
                     *             ],
                     *             "method": "geo",
                     *             "period": [
                     *               "2026-01-01",
                     *               "2026-01-28"
                     *             ],
                     *             "measured_incremental_revenue": 31250.5,
                     *             "measured_standard_error": 4800,
                     *             "incremental_revenue": 34600.2,
                     *             "standard_error": 5590.88,
                     *             "overlap": 0.9036,
                     *             "basis": "touches",
                     *             "model_incremental_revenue_before": 44210.75,
                     *             "model_incremental_revenue_after": 40920.11
                     *           }
                     *         ]
                     *       },
                     *       "progress": 1,
                     *       "failure": null,
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "signature": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRlZmQzZmNkZTFmNTk1YThkMjZkYWQifQ.EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA"
                     *     }
                     */
                    "application/json": components["schemas"]["AttributionResult"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            402: components["responses"]["callers.402.spend_limit_exceeded.payment_required"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.data_source_unavailable"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getAttribution: {
        parameters: {
            query?: {
                /** @description Sections that the answer has beyond its base; null where the data cannot give one */
                include?: ("time_series" | "model_breakdown" | "comparison" | "diagnostics" | "campaigns")[];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The analysis */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "status": "completed",
                     *       "model": "causal",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-01-31"
                     *       ],
                     *       "channel_impact": [
                     *         {
                     *           "channel": "meta_ads",
                     *           "causal_lift": 0.3717,
                     *           "roi": 2.41,
                     *           "spend": 12000,
                     *           "attributed_revenue": 40920.11,
                     *           "confidence": 0.91,
                     *           "confidence_interval": {
                     *             "lower": 36100.5,
                     *             "upper": 45890.2,
                     *             "level": 0.95
                     *           },
                     *           "lastclick_revenue": 28800,
                     *           "delta_r": 12120.11,
                     *           "incremental_revenue": 40920.11,
                     *           "conversions": 512.4,
                     *           "share": 0.271,
                     *           "roas": 3.41,
                     *           "rank": 1,
                     *           "is_baseline": false,
                     *           "profit": 5186.45,
                     *           "profit_interval": {
                     *             "lower": 3162.21,
                     *             "upper": 7273.88,
                     *             "level": 0.95
                     *           },
                     *           "profit_roas": 1.4322,
                     *           "identification": {
                     *             "status": "point",
                     *             "reasons": []
                     *           }
                     *         }
                     *       ],
                     *       "methodology": "markov+shapley+dominance+rwa+prav/stacked-on-placebo-adjusted-lift",
                     *       "confidence": 0.88,
                     *       "created_at": "2026-02-01T09:29:58.120Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       },
                     *       "profitability": {
                     *         "margin": 0.42,
                     *         "origin": "setting"
                     *       },
                     *       "completed_at": "2026-02-01T09:30:00.000Z",
                     *       "granularity": "daily",
                     *       "channels": null,
                     *       "currency": "USD",
                     *       "environment": "live",
                     *       "revision": 1,
                     *       "conversions": 1890,
                     *       "revenue": 151004.25,
                     *       "baseline_revenue": 33854.55,
                     *       "unattributed_revenue": 5210.4,
                     *       "lookback_window_days": 30,
                     *       "conversion_event": "purchase",
                     *       "confidence_level": 0.95,
                     *       "revenue_lastclick_cents": 9842000,
                     *       "revenue_causal_cents": 11714970,
                     *       "delta_r_cents": 1872970,
                     *       "delta_r_net_cents": 1872970,
                     *       "platform_fee_cents": 93649,
                     *       "time_series": [
                     *         {
                     *           "period_start": "2026-01-01",
                     *           "partial": false,
                     *           "revenue": 4871.1,
                     *           "baseline_revenue": 1092.08,
                     *           "channels": {
                     *             "meta_ads": 1320.4
                     *           }
                     *         }
                     *       ],
                     *       "model_breakdown": {
                     *         "markov": {
                     *           "meta_ads": 0.27
                     *         },
                     *         "shapley": {
                     *           "meta_ads": 0.26
                     *         }
                     *       },
                     *       "comparison": {
                     *         "last_click": {
                     *           "meta_ads": 28800
                     *         },
                     *         "first_click": {
                     *           "meta_ads": 35100
                     *         },
                     *         "linear": {
                     *           "meta_ads": 31420.5
                     *         },
                     *         "time_decay": {
                     *           "meta_ads": 30910.25
                     *         },
                     *         "position_based": {
                     *           "meta_ads": 32050
                     *         }
                     *       },
                     *       "diagnostics": {
                     *         "journeys": 48211,
                     *         "converting_journeys": 1890,
                     *         "touches": 120044,
                     *         "converged": true,
                     *         "iterations": 41,
                     *         "elapsed_ms": 812,
                     *         "seed": "6f1c2a",
                     *         "run_digest": "sha256:9b74c9897bac770ffc029102a200c5de4f1c7b1a9c2e6d1f0b7f3a5c8d9e0f12",
                     *         "warnings": [],
                     *         "tests": [
                     *           {
                     *             "code": "horizon_halved",
                     *             "channel": "meta_ads",
                     *             "status": "pass",
                     *             "estimate": -0.0124,
                     *             "interval": {
                     *               "lower": -0.0311,
                     *               "upper": 0.0063,
                     *               "level": 0.95
                     *             },
                     *             "threshold": 0.1042,
                     *             "message": "Followed for 7 days instead of 14, what it is measured to bring moves by -1.2 % of the revenue: no more than chance and its interval allow for."
                     *           }
                     *         ],
                     *         "models": {
                     *           "markov": {
                     *             "order": 2
                     *           }
                     *         },
                     *         "experiments": [
                     *           {
                     *             "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *             "channel": "meta_ads",
                     *             "channels": [
                     *               "meta_ads"
                     *             ],
                     *             "method": "geo",
                     *             "period": [
                     *               "2026-01-01",
                     *               "2026-01-28"
                     *             ],
                     *             "measured_incremental_revenue": 31250.5,
                     *             "measured_standard_error": 4800,
                     *             "incremental_revenue": 34600.2,
                     *             "standard_error": 5590.88,
                     *             "overlap": 0.9036,
                     *             "basis": "touches",
                     *             "model_incremental_revenue_before": 44210.75,
                     *             "model_incremental_revenue_after": 40920.11
                     *           }
                     *         ]
                     *       },
                     *       "progress": 1,
                     *       "failure": null,
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "signature": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRlZmQzZmNkZTFmNTk1YThkMjZkYWQifQ.EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA"
                     *     }
                     */
                    "application/json": components["schemas"]["AttributionResult"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    deleteAttribution: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    cancelAttribution: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The analysis, failed */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "status": "failed",
                     *       "model": "causal",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-01-31"
                     *       ],
                     *       "channel_impact": [],
                     *       "methodology": "causal",
                     *       "confidence": null,
                     *       "created_at": "2026-02-01T09:29:58.120Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       },
                     *       "completed_at": "2026-02-01T09:30:00.000Z",
                     *       "granularity": "daily",
                     *       "channels": null,
                     *       "currency": null,
                     *       "environment": "live",
                     *       "revision": 1,
                     *       "conversions": null,
                     *       "revenue": null,
                     *       "baseline_revenue": null,
                     *       "unattributed_revenue": null,
                     *       "lookback_window_days": 30,
                     *       "conversion_event": "purchase",
                     *       "confidence_level": 0.95,
                     *       "revenue_lastclick_cents": null,
                     *       "revenue_causal_cents": null,
                     *       "delta_r_cents": null,
                     *       "delta_r_net_cents": null,
                     *       "platform_fee_cents": null,
                     *       "time_series": null,
                     *       "model_breakdown": null,
                     *       "comparison": null,
                     *       "diagnostics": null,
                     *       "progress": 1,
                     *       "failure": {
                     *         "code": "cancelled",
                     *         "message": "The analysis was cancelled. Nothing is billed."
                     *       },
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "signature": null
                     *     }
                     */
                    "application/json": components["schemas"]["AttributionResult"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    exportAttribution: {
        parameters: {
            query?: {
                /** @example csv */
                format?: "csv" | "ndjson" | "json" | "parquet";
                /** @example channels */
                level?: "channels" | "periods" | "campaigns" | "paths";
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description attachment, with a name for the file */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    }[];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            409: components["responses"]["callers.409.conflict.data_source_unavailable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    reportAttribution: {
        parameters: {
            query?: {
                /** @example html */
                format?: "html" | "xlsx";
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description attachment, with a name for the file */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            409: components["responses"]["callers.409.conflict"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    streamAttribution: {
        parameters: {
            query?: {
                /** @description As Last-Event-ID, for clients that cannot set headers */
                last_event_id?: number;
            };
            header?: {
                /** @description Id of the last event that was seen */
                "Last-Event-ID"?: number;
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Analysis, attr_…
                 * @example attr_01JQ2m6Yw3TfK8sVbNcXrE
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event stream */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The last event was seen; there is nothing more to come */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    verifyResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "jws": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZXN1bHQrand0Iiwia2lkIjoia1ByS19xbXhWV2FZVkE5d3dCRjZJdW8zdlZ6ejdUeEhDVHdYQnlnclM0ayJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIiwic3ViIjoiYXR0cl8wMUpRMm02WXczVGZLOHNWYk5jWHJFIiwiaWF0IjoxNzY5OTM4MjAwLCJqdGkiOiIzZjBjOWE1Mi03ZDFlLTRiOGEtOWM0Ni01OGYyZDFhN2U2MDMiLCJyZXZpc2lvbiI6MSwiZGVsdGFfcl9jZW50cyI6MTg3Mjk3MCwiZGlnZXN0Ijoic2hhMjU2OjFlNjdjZmE0NjQ0ODNjMjk1NTU2MDYzYWVjM2U1OTJiNjI4NjBjOGE2ZWRlZmQzZmNkZTFmNTk1YThkMjZkYWQifQ.EdA_rcIpCauuu0mMHWg-mDWJrecX6L1uZeDFNrcd8JUd26LEYwEqcLZ1tNQP88ILIJEDgmHgtDOfwnVksALTAA"
                 *     }
                 */
                "application/json": {
                    /** @description The signature; that of result when left out */
                    jws?: string;
                    /** @description A result as it was received; sections that include= adds may be left out */
                    result?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description What came of the check */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "signature_valid": true,
                     *       "digest_match": null,
                     *       "reason": null,
                     *       "algorithm": "EdDSA",
                     *       "key_id": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
                     *       "issuer": "https://api.example",
                     *       "subject": {
                     *         "type": "attribution_result",
                     *         "id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *         "revision": 1
                     *       },
                     *       "signed_at": "2026-02-01T09:30:00.000Z",
                     *       "environment": "live",
                     *       "payload": {
                     *         "iss": "https://api.example",
                     *         "sub": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *         "iat": 1769938200,
                     *         "jti": "3f0c9a52-7d1e-4b8a-9c46-58f2d1a7e603",
                     *         "revision": 1,
                     *         "delta_r_cents": 1872970,
                     *         "digest": "sha256:1e67cfa464483c295556063aec3e592b62860c8a6edefd3fcde1f595a8d26dad"
                     *       },
                     *       "verified_at": "2026-02-01T10:00:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ResultVerification"];
                };
            };
            400: components["responses"]["strangers.400.unsupported_api_version.missing_nonce.invalid_request"];
            406: components["responses"]["strangers.406.not_acceptable"];
            409: components["responses"]["strangers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["strangers.413.payload_too_large"];
            415: components["responses"]["strangers.415.unsupported_media_type"];
            422: components["responses"]["strangers.422.validation_error"];
            429: components["responses"]["strangers.429.rate_limit_exceeded"];
            500: components["responses"]["strangers.500.internal_error"];
            503: components["responses"]["strangers.503.service_unavailable"];
        };
    };
    connectDataSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "csv_upload",
                 *       "name": "Spring shop",
                 *       "credentials": {
                 *         "filename": "touches.csv",
                 *         "content": "user_id,timestamp,channel,campaign,cost,conversion,revenue\nu1,2026-01-05T10:00:00Z,meta_ads,spring,0.40,0,\n"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    type: "csv_upload";
                    credentials: {
                        filename?: string;
                        /** @description The file itself; left out, rows come by POST /data-sources/{id}/records */
                        content?: string;
                        /**
                         * @default utf-8
                         * @enum {string}
                         */
                        encoding?: "utf-8" | "base64";
                        /** @default auto */
                        delimiter?: "auto" | string;
                        /** @description Canonical column to the column of the file */
                        mapping?: {
                            [key: string]: string;
                        };
                    };
                    /**
                     * @default daily
                     * @enum {string}
                     */
                    sync_schedule?: "daily" | "weekly" | "realtime";
                    name?: string;
                    /** @description The serving agent; the calling one when absent. An account without an agent may name any */
                    agent_id?: string;
                    /** @description Workspace to put the source into, ws_…; the one in SVC-Workspace when absent */
                    workspace_id?: string;
                    /** @description Brand that the rows are of, in your own words */
                    brand_id?: string;
                    /**
                     * Format: date
                     * @description First UTC day to fetch: the first sync begins there; all that there is when absent. Not after today, and not for csv_upload, whose rows are sent
                     */
                    start_date?: string;
                    /**
                     * @description IANA time zone of the schedule
                     * @default UTC
                     */
                    timezone?: string;
                    /** @description Channels that are there without marketing; a trailing * matches any ending */
                    baseline_channels?: string[];
                    /** @description Share of revenue that is left after the cost of goods, where orders do not say their cogs: analyses then speak of profit, too */
                    margin?: number;
                } | {
                    /** @enum {string} */
                    type: "ga4" | "shopify" | "meta_ads" | "google_ads";
                    credentials: {
                        [key: string]: unknown;
                    };
                    /**
                     * @default daily
                     * @enum {string}
                     */
                    sync_schedule?: "daily" | "weekly" | "realtime";
                    name?: string;
                    /** @description The serving agent; the calling one when absent. An account without an agent may name any */
                    agent_id?: string;
                    /** @description Workspace to put the source into, ws_…; the one in SVC-Workspace when absent */
                    workspace_id?: string;
                    /** @description Brand that the rows are of, in your own words */
                    brand_id?: string;
                    /**
                     * Format: date
                     * @description First UTC day to fetch: the first sync begins there; all that there is when absent. Not after today, and not for csv_upload, whose rows are sent
                     */
                    start_date?: string;
                    /**
                     * @description IANA time zone of the schedule
                     * @default UTC
                     */
                    timezone?: string;
                    /** @description Channels that are there without marketing; a trailing * matches any ending */
                    baseline_channels?: string[];
                    /** @description Share of revenue that is left after the cost of goods, where orders do not say their cogs: analyses then speak of profit, too */
                    margin?: number;
                };
            };
        };
        responses: {
            /** @description The source */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where the status of the source is */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "status": "connected",
                     *       "first_sync_eta": null,
                     *       "type": "csv_upload",
                     *       "name": "Spring shop",
                     *       "sync_schedule": "daily",
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "created_at": "2026-01-31T18:00:00.000Z",
                     *       "ingest": {
                     *         "upload_id": "upload_01JQ2kf0R3bVnTqWsXyZaC",
                     *         "status": "completed",
                     *         "failure": null,
                     *         "kind": "events",
                     *         "accepted": 1,
                     *         "rejected": 0,
                     *         "errors": [],
                     *         "warnings": []
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data_source_id: string;
                        /** @enum {string} */
                        status: "connected" | "syncing" | "error";
                        first_sync_eta: string | null;
                        /** @enum {string} */
                        type: "ga4" | "shopify" | "meta_ads" | "google_ads" | "csv_upload";
                        name: string;
                        /** @enum {string} */
                        sync_schedule: "daily" | "weekly" | "realtime";
                        agent_id: string | null;
                        /** Format: date-time */
                        created_at: string;
                        /** @description What came of credentials.content; null without it */
                        ingest: {
                            upload_id: string;
                            /**
                             * @description `failed` when rows came and every one was rejected: nothing was stored
                             * @enum {string}
                             */
                            status: "completed" | "failed";
                            failure: {
                                /** @enum {string} */
                                code: "all_rows_rejected";
                                message: string;
                            } | null;
                            kind: string;
                            accepted: number;
                            rejected: number;
                            errors: components["schemas"]["RejectedRow"][];
                            /** @description What else the sender should know, such as rows that no analysis will read */
                            warnings: string[];
                        } | null;
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listDataSources: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sources */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sources": [
                     *         {
                     *           "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *           "type": "csv_upload",
                     *           "status": "connected",
                     *           "first_sync_eta": null,
                     *           "last_sync": "2026-02-01T09:12:40.000Z",
                     *           "records_synced": 120044,
                     *           "health_score": 0.97,
                     *           "name": "Spring shop",
                     *           "sync_schedule": "daily",
                     *           "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "workspace_id": null,
                     *           "brand_id": null,
                     *           "start_date": null,
                     *           "currency": "USD",
                     *           "baseline_channels": [
                     *             "direct",
                     *             "organic*"
                     *           ],
                     *           "margin": 0.42,
                     *           "created_at": "2026-01-31T18:00:00.000Z",
                     *           "next_sync": null,
                     *           "error": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        sources: components["schemas"]["DataSource"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getDataSourceStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "type": "csv_upload",
                     *       "status": "connected",
                     *       "name": "Spring shop",
                     *       "sync_schedule": "daily",
                     *       "last_sync": "2026-02-01T09:12:40.000Z",
                     *       "next_sync": null,
                     *       "first_sync_eta": null,
                     *       "records_synced": 120044,
                     *       "health_score": 0.97,
                     *       "coverage": {
                     *         "earliest": "2025-02-01",
                     *         "latest": "2026-01-31",
                     *         "missing_days": []
                     *       },
                     *       "freshness_seconds": 4021,
                     *       "records": {
                     *         "touchpoints": 90112,
                     *         "conversions": 4020,
                     *         "spend_rows": 25912,
                     *         "paths": 0,
                     *         "identities": 3801,
                     *         "fx_rates": 0,
                     *         "rejected": 14
                     *       },
                     *       "quality": {
                     *         "touchpoint_match_rate": 0.93,
                     *         "unattributed_share": 0.11,
                     *         "duplicate_rate": 0.002,
                     *         "user_match_rate": 0.41,
                     *         "stitched_user_match_rate": 0.92
                     *       },
                     *       "current_sync": null,
                     *       "last_error": null,
                     *       "recent_syncs": [
                     *         {
                     *           "sync_id": "sync_01JQ2kf0R3bVnTqWsXyZaC",
                     *           "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *           "status": "completed",
                     *           "rows": 1002,
                     *           "requested_at": "2026-02-01T09:12:00.000Z",
                     *           "started_at": "2026-02-01T09:12:00.000Z",
                     *           "completed_at": "2026-02-01T09:12:40.000Z",
                     *           "error": null
                     *         }
                     *       ],
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "workspace_id": null,
                     *       "brand_id": null,
                     *       "start_date": null,
                     *       "currency": "USD",
                     *       "baseline_channels": [
                     *         "direct",
                     *         "organic*"
                     *       ],
                     *       "margin": 0.42,
                     *       "created_at": "2026-01-31T18:00:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DataSourceStatus"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    uploadRecords: {
        parameters: {
            query?: {
                /** @description `true` says how the rows would be read, and stores nothing */
                dry_run?: "true" | "false";
                /** @description Which export of which vendor it is, such as shopify_orders; told from the header when absent */
                preset?: string;
                /** @description How numbers and dates are written, such as de-DE, where the file can be read in two ways */
                locale?: string;
                /** @description IANA time zone of times that say none; UTC when absent */
                timezone?: string;
                /** @description Currency of amounts that name none, ISO 4217 */
                currency?: string;
                /** @description Canonical column to the column of the file, such as {"order_id":"Bestellnummer"}; JSON */
                mapping?: string;
                /** @description Canonical column to the value of all rows, such as {"channel":"meta_ads"}; JSON */
                constants?: string;
                /** @description Answers to the questions of a dry run, by the id of the question; JSON */
                answers?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example [
                 *       {
                 *         "user_id": "u1",
                 *         "timestamp": "2026-01-05T10:00:00Z",
                 *         "channel": "meta_ads",
                 *         "campaign": "spring",
                 *         "cost": 0.4
                 *       }
                 *     ]
                 */
                "application/json": {
                    [key: string]: unknown;
                }[] | {
                    records: {
                        [key: string]: unknown;
                    }[];
                };
                "text/csv": string;
                "application/x-ndjson": string;
                "application/vnd.apache.parquet": string;
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                "multipart/form-data": {
                    options?: components["schemas"]["UploadOptions"];
                    /** Format: binary */
                    file: string;
                };
            };
        };
        responses: {
            /** @description With `dry_run=true`: how the rows would be read; nothing was stored */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where the rejected rows are */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "conversions",
                     *       "preset": null,
                     *       "certainty": 0.95,
                     *       "mapping": {
                     *         "order_id": "Bestellnummer",
                     *         "user_id": "Kunde",
                     *         "timestamp": "Datum",
                     *         "revenue": "Umsatz"
                     *       },
                     *       "constants": {},
                     *       "readings": [
                     *         {
                     *           "column": "Umsatz",
                     *           "reading": "comma"
                     *         },
                     *         {
                     *           "column": "Datum",
                     *           "reading": "day_first"
                     *         }
                     *       ],
                     *       "currencies": [],
                     *       "questions": [],
                     *       "sample": [
                     *         {
                     *           "line": 2,
                     *           "raw": {
                     *             "Bestellnummer": "A-1",
                     *             "Kunde": "k7",
                     *             "Datum": "13.04.2026 10:30",
                     *             "Umsatz": "1.258,00"
                     *           },
                     *           "read": {
                     *             "order_id": "A-1",
                     *             "user_id": "k7",
                     *             "timestamp": "2026-04-13T10:30:00.000Z",
                     *             "revenue": "1258"
                     *           }
                     *         }
                     *       ],
                     *       "accepted": 1,
                     *       "rejected": 0,
                     *       "skipped": 0,
                     *       "errors": [],
                     *       "warnings": [
                     *         "Times that say no zone were taken as UTC. If they are local times, send the file again with their timezone."
                     *       ],
                     *       "join": {
                     *         "orders": 1,
                     *         "users": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description What the rows are: touchpoints, conversions, spend, … */
                        kind: string;
                        /** @description The export that it is; null where columns speak for themselves */
                        preset: string | null;
                        /** @description How sure that is, from 0 to 1; below 0.9 it is asked */
                        certainty: number;
                        /** @description Canonical column to the column of the file */
                        mapping: {
                            [key: string]: string;
                        };
                        /** @description Canonical column to the value of all rows */
                        constants: {
                            [key: string]: string;
                        };
                        /** @description How numbers and dates are read */
                        readings: {
                            column: string;
                            /**
                             * @description Which sign stands before decimals, or which part of a date comes first
                             * @enum {string}
                             */
                            reading: "point" | "comma" | "day_first" | "month_first";
                        }[];
                        /** @description What the rows are worth by the currency that they name */
                        currencies: {
                            currency: string;
                            rows: number;
                            amount: number;
                        }[];
                        /** @description What must be answered before the rows are taken */
                        questions: {
                            id: string;
                            column: string;
                            /** @enum {string} */
                            code: "ambiguous_decimals" | "ambiguous_dates" | "ambiguous_currency" | "ambiguous_encoding" | "repeated_orders" | "uncertain_mapping";
                            message: string;
                            options: {
                                value: string;
                                label: string;
                            }[];
                        }[];
                        /** @description The first rows that would be taken */
                        sample: {
                            line: number;
                            raw: {
                                [key: string]: string;
                            };
                            read: {
                                [key: string]: string;
                            };
                        }[];
                        /** @description Rows that would be stored */
                        accepted: number;
                        /** @description Rows that would not */
                        rejected: number;
                        /** @description Rows that are no data, such as sums */
                        skipped: number;
                        /** @description The first hundred rows that would be rejected */
                        errors: components["schemas"]["RejectedRow"][];
                        /** @description What else the sender should know */
                        warnings: string[];
                        /** @description How the rows would fit to what is stored */
                        join: {
                            /** @description Share of the orders of the file whose user has stored touches; null where it has none */
                            orders: number | null;
                            /** @description Share of the users of the file that are known from stored orders or touches; null without users */
                            users: number | null;
                        };
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            /** @description What was stored and what was not */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where the rejected rows are */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "failure": null,
                     *       "kind": "touchpoints",
                     *       "accepted": 1,
                     *       "rejected": 0,
                     *       "errors": [],
                     *       "warnings": [],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        upload_id?: string;
                        /**
                         * @description `failed` when rows came and every one was rejected: nothing was stored
                         * @enum {string}
                         */
                        status: "completed" | "failed";
                        failure: {
                            /** @enum {string} */
                            code: "all_rows_rejected";
                            message: string;
                        } | null;
                        kind: string;
                        accepted: number;
                        rejected: number;
                        errors: components["schemas"]["RejectedRow"][];
                        /** @description What else the sender should know, such as rows that no analysis will read */
                        warnings: string[];
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listRejects: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of rejected rows */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "rejects": [
                     *         {
                     *           "upload_id": "upload_01JQ2kf0R3bVnTqWsXyZaC",
                     *           "line": 17,
                     *           "column": "timestamp",
                     *           "code": "not_a_date",
                     *           "message": "\"yesterday\" is not a date or time"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        rejects: components["schemas"]["StoredReject"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    syncDataSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sync */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where the status of the source is */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sync_id": "sync_01JQ2kf0R3bVnTqWsXyZaC",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "status": "queued",
                     *       "requested_at": "2026-02-01T09:12:00.000Z",
                     *       "status_url": "https://api.example/v1/data-sources/ds_01JQ2kZr5uHn4GdPaLxWqB/status",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        sync_id: string;
                        data_source_id: string;
                        status: string;
                        /** Format: date-time */
                        requested_at: string;
                        /** Format: uri */
                        status_url: string;
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    deleteDataSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getDataQuality: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "warning",
                     *       "checks": [
                     *         {
                     *           "code": "spend_without_touches",
                     *           "severity": "warning",
                     *           "value": 0.1204,
                     *           "threshold": 0.05,
                     *           "amount": 4210.29,
                     *           "currency": "USD",
                     *           "message": "12 % of the spend, 4,210.29 USD, is on channels that no touch names: Facebook (4,210.29). What it brings cannot be told.",
                     *           "remedy": "Call them as the touches do, in the file or by a channel rule: {\"match\": {\"channel\": \"Facebook\"}, \"channel\": \"meta_ads\"}."
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DataSourceQualityReportAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.data_source_unavailable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getChannelRules: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "rules": [
                     *         {
                     *           "match": {
                     *             "source": "facebook",
                     *             "medium": "cpc"
                     *           },
                     *           "channel": "meta_ads"
                     *         },
                     *         {
                     *           "match": {
                     *             "channel": "Google Ads",
                     *             "campaign_regex": "(?i)brand"
                     *           },
                     *           "channel": "google_brand"
                     *         },
                     *         {
                     *           "match": {
                     *             "click_id": "gclid"
                     *           },
                     *           "channel": "google_ads"
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ChannelRulesAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    setChannelRules: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Data source, ds_…
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["ChannelRulesRequest"];
        responses: {
            /** @description The rules */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "rules": [
                     *         {
                     *           "match": {
                     *             "source": "facebook",
                     *             "medium": "cpc"
                     *           },
                     *           "channel": "meta_ads"
                     *         },
                     *         {
                     *           "match": {
                     *             "channel": "Google Ads",
                     *             "campaign_regex": "(?i)brand"
                     *           },
                     *           "channel": "google_brand"
                     *         },
                     *         {
                     *           "match": {
                     *             "click_id": "gclid"
                     *           },
                     *           "channel": "google_ads"
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ChannelRulesAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listExperiments: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
                data_source_id?: string;
                /** @example meta_ads */
                channel?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of experiments */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "experiments": [
                     *         {
                     *           "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *           "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *           "channel": "meta_ads",
                     *           "channels": [
                     *             "meta_ads"
                     *           ],
                     *           "method": "geo",
                     *           "period": [
                     *             "2026-01-01",
                     *             "2026-01-28"
                     *           ],
                     *           "incremental_revenue": 31250.5,
                     *           "standard_error": 4800,
                     *           "currency": "USD",
                     *           "notes": "Four regions dark, sixteen as before",
                     *           "environment": "live",
                     *           "created_at": "2026-02-01T09:20:11.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        experiments: components["schemas"]["Experiment"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    createExperiment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["ExperimentRequest"];
        responses: {
            /** @description The experiment */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where the experiment can be read */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "channel": "meta_ads",
                     *       "channels": [
                     *         "meta_ads"
                     *       ],
                     *       "method": "geo",
                     *       "period": [
                     *         "2026-01-01",
                     *         "2026-01-28"
                     *       ],
                     *       "incremental_revenue": 31250.5,
                     *       "standard_error": 4800,
                     *       "currency": "USD",
                     *       "notes": "Four regions dark, sixteen as before",
                     *       "environment": "live",
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ExperimentAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getExperiment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Experiment, exp_…
                 * @example exp_01JQ2n4Kc7WyQhTzBdMpRs
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The experiment */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "exp_01JQ2n4Kc7WyQhTzBdMpRs",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "channel": "meta_ads",
                     *       "channels": [
                     *         "meta_ads"
                     *       ],
                     *       "method": "geo",
                     *       "period": [
                     *         "2026-01-01",
                     *         "2026-01-28"
                     *       ],
                     *       "incremental_revenue": 31250.5,
                     *       "standard_error": 4800,
                     *       "currency": "USD",
                     *       "notes": "Four regions dark, sixteen as before",
                     *       "environment": "live",
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ExperimentAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    deleteExperiment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Experiment, exp_…
                 * @example exp_01JQ2n4Kc7WyQhTzBdMpRs
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listExperimentDesigns: {
        parameters: {
            query?: {
                /**
                 * @description The source; exactly one of data_source_id, data_source_ids and brand_id
                 * @example ds_01JQ2kZr5uHn4GdPaLxWqB
                 */
                data_source_id?: string;
                /** @description 2 to 20 sources that are read as if they were one: one space of user ids, each order once. Currency, baseline channels, serving agent and fee are those of the first */
                data_source_ids?: string[];
                /** @description Stands for the sources that were connected with this brand_id, oldest first */
                brand_id?: string;
                /** @description Only the design of this channel */
                channel?: string;
                /** @description Days of the analysis to stand on; those of the newest one, or all of the source, when absent */
                date_range?: [
                    string,
                    string
                ] | {
                    /** Format: date */
                    start: string;
                    /** Format: date */
                    end: string;
                } | string;
                /** @description Chance that the test finds the smallest detectable effect */
                power?: number;
                /** @description Codes of data_quality that are known and accepted: blocking checks of others refuse the request (data_quality_insufficient) */
                accept_quality?: ("order_match_rate" | "user_match_rate" | "rejected_revenue" | "mixed_currencies" | "spend_without_touches" | "touches_without_spend" | "duplicate_orders" | "missing_days" | "ambiguous_dates" | "assumed_time_zone" | "bot_like_users" | "level_shift" | "campaign_coverage" | "refunds_missing")[];
            };
            header?: {
                /** @description wait=N (0 to 60 seconds), respond-async (RFC 7240) */
                Prefer?: string;
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The designs */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where to ask again for what is not computed yet */
                    Location?: string;
                    /** @description Seconds to wait before asking again */
                    "Retry-After"?: string;
                    /** @description Which preferences were honoured */
                    "Preference-Applied"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-03-31"
                     *       ],
                     *       "currency": "USD",
                     *       "power": 0.8,
                     *       "attribution_id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "designs": [
                     *         {
                     *           "channel": "retargeting",
                     *           "channels": [
                     *             "retargeting"
                     *           ],
                     *           "method": "holdout",
                     *           "share_held_out": 0.2,
                     *           "duration_days": 28,
                     *           "smallest_detectable_effect": 4480.32,
                     *           "expected_standard_error": 1599.22,
                     *           "lost_revenue": 380.5,
                     *           "decision": {
                     *             "current_interval": {
                     *               "lower": -4210.5,
                     *               "upper": 15890.25,
                     *               "level": 0.95
                     *             },
                     *             "breakeven_revenue": 5200,
                     *             "value_of_information": 3120.75
                     *           },
                     *           "rank": 1
                     *         }
                     *       ],
                     *       "warnings": [],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description processing while the figures that designs are made of are computed
                         * @enum {string}
                         */
                        status: "processing" | "completed";
                        data_source_id: string;
                        /** @description All sources that were analysed together, in the order of the request; absent for one */
                        data_source_ids?: string[];
                        date_range: [
                            string,
                            string
                        ];
                        /** @description Of all amounts; null while processing */
                        currency: string | null;
                        power: number;
                        /** @description The analysis that the designs stand on; null where a run was made for them alone */
                        attribution_id: string | null;
                        /** @description The most valuable first */
                        designs: components["schemas"]["ExperimentDesign"][];
                        /** @description What no design can be made for, and why */
                        warnings: string[];
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            /** @description Not computed yet: Location is where to ask again, Retry-After when */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where to ask again for what is not computed yet */
                    Location?: string;
                    /** @description Seconds to wait before asking again */
                    "Retry-After"?: string;
                    /** @description Which preferences were honoured */
                    "Preference-Applied"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "completed",
                     *       "data_source_id": "ds_01JQ2kZr5uHn4GdPaLxWqB",
                     *       "date_range": [
                     *         "2026-01-01",
                     *         "2026-03-31"
                     *       ],
                     *       "currency": "USD",
                     *       "power": 0.8,
                     *       "attribution_id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *       "designs": [
                     *         {
                     *           "channel": "retargeting",
                     *           "channels": [
                     *             "retargeting"
                     *           ],
                     *           "method": "holdout",
                     *           "share_held_out": 0.2,
                     *           "duration_days": 28,
                     *           "smallest_detectable_effect": 4480.32,
                     *           "expected_standard_error": 1599.22,
                     *           "lost_revenue": 380.5,
                     *           "decision": {
                     *             "current_interval": {
                     *               "lower": -4210.5,
                     *               "upper": 15890.25,
                     *               "level": 0.95
                     *             },
                     *             "breakeven_revenue": 5200,
                     *             "value_of_information": 3120.75
                     *           },
                     *           "rank": 1
                     *         }
                     *       ],
                     *       "warnings": [],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description processing while the figures that designs are made of are computed
                         * @enum {string}
                         */
                        status: "processing" | "completed";
                        data_source_id: string;
                        /** @description All sources that were analysed together, in the order of the request; absent for one */
                        data_source_ids?: string[];
                        date_range: [
                            string,
                            string
                        ];
                        /** @description Of all amounts; null while processing */
                        currency: string | null;
                        power: number;
                        /** @description The analysis that the designs stand on; null where a run was made for them alone */
                        attribution_id: string | null;
                        /** @description The most valuable first */
                        designs: components["schemas"]["ExperimentDesign"][];
                        /** @description What no design can be made for, and why */
                        warnings: string[];
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.data_source_unavailable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    registerAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "spring-shop-agent",
                 *       "operator_email": "ops@spring.example",
                 *       "capabilities": [
                 *         "attribution"
                 *       ]
                 *     }
                 */
                "application/json": {
                    name: string;
                    /** @description Operator or organisation; this or operator_email */
                    operator_id?: string;
                    /** Format: email */
                    operator_email?: string;
                    /**
                     * @default [
                     *       "attribution"
                     *     ]
                     */
                    capabilities?: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
                    referral_code?: string;
                    /**
                     * Format: uri
                     * @description Receives commission notifications
                     */
                    callback_url?: string;
                };
            };
        };
        responses: {
            /** @description The agent and its key */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "api_key": "svc_agent_sk_EXAMPLEexampleEXAMPLE12345",
                     *       "referral_code": "REF_K7PXQ2MNWB",
                     *       "tier": "discovery",
                     *       "rate_limits": {
                     *         "requests_per_minute": 60,
                     *         "daily_limit": 10000
                     *       },
                     *       "trust_score": 0.5,
                     *       "name": "spring-shop-agent",
                     *       "capabilities": [
                     *         "attribution"
                     *       ],
                     *       "scopes": [
                     *         "attribution:read",
                     *         "attribution:write",
                     *         "billing:read"
                     *       ],
                     *       "created_at": "2026-01-31T17:58:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        agent_id: string;
                        /** @description Shown only here */
                        api_key: string;
                        referral_code: string;
                        tier: string;
                        rate_limits: {
                            requests_per_minute: number;
                            /** @description Null means unlimited */
                            daily_limit: number | null;
                        };
                        trust_score: number;
                        name: string;
                        capabilities: ("attribution" | "channel_analysis" | "journey" | "health" | "forecasting")[];
                        scopes: string[];
                        /** @description Signs the notifications to callback_url, where one was given; shown only here */
                        callback_secret?: string;
                        /** Format: date-time */
                        created_at: string;
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["strangers.400.unsupported_api_version.missing_nonce.invalid_request"];
            406: components["responses"]["strangers.406.not_acceptable"];
            409: components["responses"]["strangers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["strangers.413.payload_too_large"];
            415: components["responses"]["strangers.415.unsupported_media_type"];
            422: components["responses"]["strangers.422.validation_error"];
            429: components["responses"]["strangers.429.rate_limit_exceeded"];
            500: components["responses"]["strangers.500.internal_error"];
            503: components["responses"]["strangers.503.service_unavailable"];
        };
    };
    getOwnAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "agent_uuid": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "name": "spring-shop-agent",
                     *       "operator_id": null,
                     *       "operator_email": "ops@spring.example",
                     *       "capabilities": [
                     *         "attribution"
                     *       ],
                     *       "referral_code": "REF_K7PXQ2MNWB",
                     *       "tier": "discovery",
                     *       "trust_score": 0.5,
                     *       "total_api_calls": 51204,
                     *       "total_calls": 51204,
                     *       "total_delta_r_cents": 1872970,
                     *       "total_delta_r": 1872970,
                     *       "active_referrals": 3,
                     *       "referral_count": 3,
                     *       "next_tier": {
                     *         "name": "partner",
                     *         "referrals_needed": 2
                     *       },
                     *       "total_commission_earned_cents": 18730,
                     *       "rate_limits": {
                     *         "requests_per_minute": 60,
                     *         "daily_limit": 10000
                     *       },
                     *       "callback_url": null,
                     *       "redirect_uris": [],
                     *       "public": false,
                     *       "status": "active",
                     *       "created_at": "2026-01-31T17:58:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentProfile"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    closeAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["AgentClosing"];
        responses: {
            /** @description It is closed */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    updateOwnAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "redirect_uris": [
                 *         "https://spring.example/callback",
                 *         "http://127.0.0.1/callback"
                 *       ],
                 *       "public": false
                 *     }
                 */
                "application/json": {
                    name?: string;
                    /** @description Receives commission notifications; null removes it */
                    callback_url?: string | null;
                    /** @description Where OAuth may send resource owners back to; replaces the whole list */
                    redirect_uris?: string[];
                    /** @description An OAuth client that cannot keep a secret: PKCE alone protects its codes */
                    public?: boolean;
                };
            };
        };
        responses: {
            /** @description The profile as it is now */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "agent_uuid": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "name": "spring-shop-agent",
                     *       "operator_id": null,
                     *       "operator_email": "ops@spring.example",
                     *       "capabilities": [
                     *         "attribution"
                     *       ],
                     *       "referral_code": "REF_K7PXQ2MNWB",
                     *       "tier": "discovery",
                     *       "trust_score": 0.5,
                     *       "total_api_calls": 12,
                     *       "total_calls": 12,
                     *       "total_delta_r_cents": 0,
                     *       "total_delta_r": 0,
                     *       "active_referrals": 0,
                     *       "referral_count": 0,
                     *       "next_tier": {
                     *         "name": "partner",
                     *         "referrals_needed": 5
                     *       },
                     *       "total_commission_earned_cents": 0,
                     *       "rate_limits": {
                     *         "requests_per_minute": 60,
                     *         "daily_limit": 10000
                     *       },
                     *       "callback_url": null,
                     *       "redirect_uris": [
                     *         "https://spring.example/callback",
                     *         "http://127.0.0.1/callback"
                     *       ],
                     *       "public": false,
                     *       "status": "active",
                     *       "created_at": "2026-01-31T17:58:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["UpdatedAgentProfile"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Agent: agent_…, its UUID, or me
                 * @example agent_01JQ2jX9bLq7RtYpMwVsZe
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "name": "spring-shop-agent",
                     *       "capabilities": [
                     *         "attribution"
                     *       ],
                     *       "tier": "discovery",
                     *       "trust_score": 0.5,
                     *       "created_at": "2026-01-31T17:58:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SeenAgent"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    updateCapabilities: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CapabilitiesRequest"];
        responses: {
            /** @description The capabilities as they are now */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "capabilities": [
                     *         "attribution",
                     *         "journey"
                     *       ],
                     *       "updated_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CapabilitiesUpdate"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.validation_error.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /**
                 * @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too
                 * @example 2026-02
                 */
                period?: string;
                /** @description ISO 4217; the one with the most charges when absent, USD where there are none */
                currency?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "period": "2026-02",
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "total_calls": 1204,
                     *       "billable_analyses": 2,
                     *       "total_delta_r": 18730.7,
                     *       "platform_fee": 936.49,
                     *       "total_platform_fees": 936.49,
                     *       "floor_fees": 0.1,
                     *       "plan_fees": 0,
                     *       "total_billed": 936.59,
                     *       "commission_earned": 187.3,
                     *       "breakdown": [
                     *         {
                     *           "endpoint": "GET /attribution/{id}",
                     *           "calls": 1200,
                     *           "errors": 3,
                     *           "billable": 0,
                     *           "p95_ms": 14,
                     *           "platform_fee": 0
                     *         },
                     *         {
                     *           "endpoint": "POST /attribution",
                     *           "calls": 4,
                     *           "errors": 1,
                     *           "billable": 2,
                     *           "p95_ms": 1725,
                     *           "platform_fee": 936.59
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentUsageAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getAgentUsage: {
        parameters: {
            query?: {
                /**
                 * @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too
                 * @example 2026-02
                 */
                period?: string;
                /** @description ISO 4217; the one with the most charges when absent, USD where there are none */
                currency?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The calling agent: agent_…, its UUID, or me
                 * @example agent_01JQ2jX9bLq7RtYpMwVsZe
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "period": "2026-02",
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "total_calls": 1204,
                     *       "billable_analyses": 2,
                     *       "total_delta_r": 18730.7,
                     *       "platform_fee": 936.49,
                     *       "total_platform_fees": 936.49,
                     *       "floor_fees": 0.1,
                     *       "plan_fees": 0,
                     *       "total_billed": 936.59,
                     *       "commission_earned": 187.3,
                     *       "breakdown": [
                     *         {
                     *           "endpoint": "GET /attribution/{id}",
                     *           "calls": 1200,
                     *           "errors": 3,
                     *           "billable": 0,
                     *           "p95_ms": 14,
                     *           "platform_fee": 0
                     *         },
                     *         {
                     *           "endpoint": "POST /attribution",
                     *           "calls": 4,
                     *           "errors": 1,
                     *           "billable": 2,
                     *           "p95_ms": 1725,
                     *           "platform_fee": 936.59
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentUsageAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listReferrals: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
                /** @example active */
                status?: "pending" | "active" | "churned";
                /** @description 1: registered with your code; 2: with the code of such an agent. */
                depth?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of referrals */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referrals": [
                     *         {
                     *           "referred_agent_id": "agent_01JQ4bT2xKvWsNcHhYfMqE",
                     *           "referred_agent_name": "summer-shop-agent",
                     *           "status": "active",
                     *           "chain_depth": 1,
                     *           "accumulated_delta_r": 1310.25,
                     *           "activation_progress": 1,
                     *           "commission_earned": 6.55,
                     *           "created_at": "2026-01-12T08:15:00.000Z",
                     *           "activated_at": "2026-01-31T17:58:00.000Z",
                     *           "expires_at": "2027-01-31T17:58:00.000Z"
                     *         }
                     *       ],
                     *       "total_active": 1,
                     *       "total_pending": 4,
                     *       "total_churned": 0,
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        referrals: components["schemas"]["Referral"][];
                        /** @description Of both depths, whatever the filter, as the next two */
                        total_active: number;
                        total_pending: number;
                        total_churned: number;
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listAgentReferrals: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
                status?: "pending" | "active" | "churned";
                /**
                 * @description 1: registered with your code; 2: with the code of such an agent.
                 * @example 1
                 */
                depth?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description The calling agent: agent_…, its UUID, or me
                 * @example agent_01JQ2jX9bLq7RtYpMwVsZe
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of referrals */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referrals": [
                     *         {
                     *           "referred_agent_id": "agent_01JQ4bT2xKvWsNcHhYfMqE",
                     *           "referred_agent_name": "summer-shop-agent",
                     *           "status": "active",
                     *           "chain_depth": 1,
                     *           "accumulated_delta_r": 1310.25,
                     *           "activation_progress": 1,
                     *           "commission_earned": 6.55,
                     *           "created_at": "2026-01-12T08:15:00.000Z",
                     *           "activated_at": "2026-01-31T17:58:00.000Z",
                     *           "expires_at": "2027-01-31T17:58:00.000Z"
                     *         }
                     *       ],
                     *       "total_active": 1,
                     *       "total_pending": 4,
                     *       "total_churned": 0,
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        referrals: components["schemas"]["Referral"][];
                        /** @description Of both depths, whatever the filter, as the next two */
                        total_active: number;
                        total_pending: number;
                        total_churned: number;
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listCommissions: {
        parameters: {
            query?: {
                /** @description Entries per page; 50 when nothing is said */
                limit?: number;
                /**
                 * @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too
                 * @example 2026-02
                 */
                period?: string;
                status?: "provisional" | "payable" | "paid" | "reversed";
                type?: "l1_referral" | "l2_referral" | "brand_serving" | "clawback" | "adjustment";
                /** @description Of the totals, ISO 4217; that of most entries of the period when left out, USD where there are none */
                currency?: string;
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description The same as limit, as other lists have it */
                per_page?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the ledger */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "commissions": [
                     *         {
                     *           "id": "com_01JQ2m7Bv4XgL9uTcPdYsG",
                     *           "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "type": "l1_referral",
                     *           "source_agent_id": "agent_01JQ4bT2xKvWsNcHhYfMqE",
                     *           "amount_cents": 9365,
                     *           "currency": "USD",
                     *           "delta_r_cents": 1872970,
                     *           "rate": 0.1,
                     *           "analysis_id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *           "reverses": null,
                     *           "sequence": 1,
                     *           "created_at": "2026-02-01T09:30:00.000Z",
                     *           "payable_at": "2026-05-02T09:30:00.000Z",
                     *           "status": "provisional",
                     *           "paid_at": null,
                     *           "previous_hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                     *           "ledger_hash": "sha256:5b0ad1a3c6e8f7920d4b1c5a6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091"
                     *         }
                     *       ],
                     *       "total_earned_cents": 9365,
                     *       "total_provisional_cents": 9365,
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "next_payout": "2026-03-01",
                     *       "period": "2026-02",
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        commissions: components["schemas"]["Commission"][];
                        /** @description Of the period, whatever the filter: earned less taken back, in the currency named */
                        total_earned_cents: number;
                        /** @description What of it may still be taken back */
                        total_provisional_cents: number;
                        /** @description ISO 4217, of the totals */
                        currency: string;
                        /** @description Others that entries of the period are in */
                        other_currencies: string[];
                        /**
                         * Format: date
                         * @description The next payday, UTC
                         */
                        next_payout: string;
                        period: string;
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listAgentCommissions: {
        parameters: {
            query?: {
                /**
                 * @description Entries per page; 50 when nothing is said
                 * @example 50
                 */
                limit?: number;
                /** @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too */
                period?: string;
                status?: "provisional" | "payable" | "paid" | "reversed";
                type?: "l1_referral" | "l2_referral" | "brand_serving" | "clawback" | "adjustment";
                /** @description Of the totals, ISO 4217; that of most entries of the period when left out, USD where there are none */
                currency?: string;
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description The same as limit, as other lists have it */
                per_page?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description The calling agent: agent_…, its UUID, or me
                 * @example agent_01JQ2jX9bLq7RtYpMwVsZe
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the ledger */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "commissions": [
                     *         {
                     *           "id": "com_01JQ2m7Bv4XgL9uTcPdYsG",
                     *           "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "type": "l1_referral",
                     *           "source_agent_id": "agent_01JQ4bT2xKvWsNcHhYfMqE",
                     *           "amount_cents": 9365,
                     *           "currency": "USD",
                     *           "delta_r_cents": 1872970,
                     *           "rate": 0.1,
                     *           "analysis_id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *           "reverses": null,
                     *           "sequence": 1,
                     *           "created_at": "2026-02-01T09:30:00.000Z",
                     *           "payable_at": "2026-05-02T09:30:00.000Z",
                     *           "status": "provisional",
                     *           "paid_at": null,
                     *           "previous_hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                     *           "ledger_hash": "sha256:5b0ad1a3c6e8f7920d4b1c5a6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091"
                     *         }
                     *       ],
                     *       "total_earned_cents": 9365,
                     *       "total_provisional_cents": 9365,
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "next_payout": "2026-03-01",
                     *       "period": "2026-02",
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        commissions: components["schemas"]["Commission"][];
                        /** @description Of the period, whatever the filter: earned less taken back, in the currency named */
                        total_earned_cents: number;
                        /** @description What of it may still be taken back */
                        total_provisional_cents: number;
                        /** @description ISO 4217, of the totals */
                        currency: string;
                        /** @description Others that entries of the period are in */
                        other_currencies: string[];
                        /**
                         * Format: date
                         * @description The next payday, UTC
                         */
                        next_payout: string;
                        period: string;
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    verifyCommission: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["CommissionVerifyRequest"];
        responses: {
            /** @description What came of it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "chain_intact": true,
                     *       "commission_id": "com_01JQ2m7Bv4XgL9uTcPdYsG",
                     *       "verified_at": "2026-02-01T10:00:00.000Z",
                     *       "computed_hash": "sha256:5b0ad1a3c6e8f7920d4b1c5a6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091",
                     *       "chain_length": 1,
                     *       "first_broken_sequence": null,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CommissionVerification"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "id": "key_01JQ2pT8vXrYmKcFhWbNdA",
                     *           "key_pair_id": "kp_01JQ2pT8vXrYmKcFhWbNd9",
                     *           "name": "ci",
                     *           "env": "live",
                     *           "type": "sk",
                     *           "prefix": "svc_live_sk_Ab12",
                     *           "last4": "9xYz",
                     *           "scopes": [
                     *             "attribution:read",
                     *             "attribution:write"
                     *           ],
                     *           "allowed_ips": null,
                     *           "status": "active",
                     *           "created_at": "2026-01-31T18:02:00.000Z",
                     *           "last_used_at": null,
                     *           "expires_at": null,
                     *           "ends_with": null,
                     *           "rotated_to": null,
                     *           "grace_ends_at": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        keys: components["schemas"]["ApiKey"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["KeyRequest"];
        responses: {
            /** @description The pair */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_pair_id": "kp_01JQ2pT8vXrYmKcFhWbNd9",
                     *       "name": "ci",
                     *       "scopes": [
                     *         "attribution:read",
                     *         "attribution:write"
                     *       ],
                     *       "live": {
                     *         "id": "key_01JQ2pT8vXrYmKcFhWbNdA",
                     *         "key": "svc_live_sk_EXAMPLEexampleEXAMPLE12345",
                     *         "prefix": "svc_live_sk_EXAM",
                     *         "last4": "2345",
                     *         "env": "live",
                     *         "type": "sk",
                     *         "created_at": "2026-01-31T18:02:00.000Z",
                     *         "expires_at": null
                     *       },
                     *       "test": {
                     *         "id": "key_01JQ2pT8vXrYmKcFhWbNdB",
                     *         "key": "svc_test_sk_EXAMPLEexampleEXAMPLE54321",
                     *         "prefix": "svc_test_sk_EXAM",
                     *         "last4": "4321",
                     *         "env": "test",
                     *         "type": "sk",
                     *         "created_at": "2026-01-31T18:02:00.000Z",
                     *         "expires_at": null
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 2,
                     *           "claims_total": 2,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        key_pair_id: string;
                        name: string | null;
                        scopes: ("attribution:read" | "attribution:write" | "channels:read" | "journeys:read" | "campaigns:read" | "health:read" | "billing:read" | "referrals:read" | "referrals:write" | "audit:read")[];
                        live: components["schemas"]["NewApiKey"];
                        test: components["schemas"]["NewApiKey"];
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Key, key_…
                 * @example key_01JQ2pT8vXrYmKcFhWbNdA
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key has ended */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01JQ2pT8vXrYmKcFhWbNdA",
                     *       "status": "revoked",
                     *       "revoked_at": "2026-02-01T09:30:00.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: string;
                        /** @constant */
                        status: "revoked";
                        /** Format: date-time */
                        revoked_at: string;
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Key, key_…
                 * @example key_01JQ2pT8vXrYmKcFhWbNdA
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["KeyRotationRequest"];
        responses: {
            /** @description The new key */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01JQ3qU9wYsZnLdGjXcPeC",
                     *       "key": "svc_live_sk_EXAMPLEexampleEXAMPLE6789",
                     *       "prefix": "svc_live_sk_EXAM",
                     *       "last4": "6789",
                     *       "previous_key_id": "key_01JQ2pT8vXrYmKcFhWbNdA",
                     *       "previous_key_expires_at": "2026-02-02T09:30:00.000Z",
                     *       "rotated_at": "2026-02-01T09:30:00.000Z",
                     *       "trust_score": 0.55,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KeyRotation"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    rotateAgentKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The calling agent: agent_…, its UUID, or me
                 * @example agent_01JQ2jX9bLq7RtYpMwVsZe
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["KeyRotationRequest"];
        responses: {
            /** @description The new key */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01JQ3qU9wYsZnLdGjXcPeC",
                     *       "key": "svc_agent_sk_EXAMPLEexampleEXAMPLE678",
                     *       "prefix": "svc_agent_sk_EXA",
                     *       "last4": "5678",
                     *       "previous_key_id": "key_01JQ2pT8vXrYmKcFhWbNdA",
                     *       "previous_key_expires_at": "2026-02-02T09:30:00.000Z",
                     *       "rotated_at": "2026-02-01T09:30:00.000Z",
                     *       "trust_score": 0.55,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KeyRotation"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    issueToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                 *       "client_secret": "svc_agent_sk_EXAMPLEexampleEXAMPLE12345",
                 *       "scope": "attribution:read"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    grant_type: "client_credentials" | "authorization_code" | "refresh_token";
                    /** @description Id of the agent */
                    client_id: string;
                    /** @description Key of the agent; for public clients left out */
                    client_secret?: string;
                    /** @description Separated by spaces; all that may be granted when left out */
                    scope?: string;
                    /** @description authorization_code: works once, for 60 seconds */
                    code?: string;
                    /** @description authorization_code: as in the authorization request, byte for byte */
                    redirect_uri?: string;
                    /** @description authorization_code: what the code_challenge was made of (RFC 7636) */
                    code_verifier?: string;
                    /** @description refresh_token: works once, for 30 days */
                    refresh_token?: string;
                    /** @description RFC 8707: an address of this service */
                    resource?: string;
                };
                /**
                 * @example {
                 *       "grant_type": "client_credentials",
                 *       "client_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                 *       "client_secret": "svc_agent_sk_EXAMPLEexampleEXAMPLE12345",
                 *       "scope": "attribution:read"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @enum {string} */
                    grant_type: "client_credentials" | "authorization_code" | "refresh_token";
                    /** @description Id of the agent */
                    client_id: string;
                    /** @description Key of the agent; for public clients left out */
                    client_secret?: string;
                    /** @description Separated by spaces; all that may be granted when left out */
                    scope?: string;
                    /** @description authorization_code: works once, for 60 seconds */
                    code?: string;
                    /** @description authorization_code: as in the authorization request, byte for byte */
                    redirect_uri?: string;
                    /** @description authorization_code: what the code_challenge was made of (RFC 7636) */
                    code_verifier?: string;
                    /** @description refresh_token: works once, for 30 days */
                    refresh_token?: string;
                    /** @description RFC 8707: an address of this service */
                    resource?: string;
                };
            };
        };
        responses: {
            /** @description A token for an hour, and what to get the next one with */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "svc_at_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                     *       "token_type": "Bearer",
                     *       "expires_in": 3600,
                     *       "refresh_token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE2",
                     *       "scope": "attribution:read",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            400: components["responses"]["oauth.400.unsupported_api_version.missing_nonce.invalid_request.unsupported_grant_type.invalid_grant.invalid_scope"];
            401: components["responses"]["oauth.401.invalid_client"];
            403: components["responses"]["oauth.403.ip_not_allowed"];
            406: components["responses"]["oauth.406.not_acceptable"];
            409: components["responses"]["oauth.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["oauth.413.payload_too_large"];
            415: components["responses"]["oauth.415.unsupported_media_type"];
            429: components["responses"]["oauth.429.rate_limit_exceeded"];
            500: components["responses"]["oauth.500.internal_error"];
            503: components["responses"]["oauth.503.service_unavailable"];
        };
    };
    refreshToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "refresh_token",
                 *       "refresh_token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                 *       "client_id": "agent_01JQ2jX9bLq7RtYpMwVsZe"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    grant_type: "refresh_token";
                    refresh_token: string;
                    /** @description Id of the agent */
                    client_id: string;
                    /** @description Key of the agent; for public clients left out */
                    client_secret?: string;
                    /** @description Separated by spaces; all that may be granted when left out */
                    scope?: string;
                    /** @description RFC 8707: an address of this service */
                    resource?: string;
                };
                /**
                 * @example {
                 *       "grant_type": "refresh_token",
                 *       "refresh_token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                 *       "client_id": "agent_01JQ2jX9bLq7RtYpMwVsZe"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @enum {string} */
                    grant_type: "refresh_token";
                    refresh_token: string;
                    /** @description Id of the agent */
                    client_id: string;
                    /** @description Key of the agent; for public clients left out */
                    client_secret?: string;
                    /** @description Separated by spaces; all that may be granted when left out */
                    scope?: string;
                    /** @description RFC 8707: an address of this service */
                    resource?: string;
                };
            };
        };
        responses: {
            /** @description A new pair; the old refresh token is used up */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "svc_at_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                     *       "token_type": "Bearer",
                     *       "expires_in": 3600,
                     *       "refresh_token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE2",
                     *       "scope": "attribution:read attribution:write channels:read journeys:read campaigns:read health:read billing:read referrals:read referrals:write audit:read",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            400: components["responses"]["oauth.400.unsupported_api_version.missing_nonce.invalid_request.unsupported_grant_type.invalid_grant.invalid_scope"];
            401: components["responses"]["oauth.401.invalid_client"];
            403: components["responses"]["oauth.403.ip_not_allowed"];
            406: components["responses"]["oauth.406.not_acceptable"];
            409: components["responses"]["oauth.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["oauth.413.payload_too_large"];
            415: components["responses"]["oauth.415.unsupported_media_type"];
            429: components["responses"]["oauth.429.rate_limit_exceeded"];
            500: components["responses"]["oauth.500.internal_error"];
            503: components["responses"]["oauth.503.service_unavailable"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                 *       "token_type_hint": "refresh_token"
                 *     }
                 */
                "application/json": {
                    token: string;
                    /** @enum {string} */
                    token_type_hint?: "access_token" | "refresh_token";
                };
                /**
                 * @example {
                 *       "token": "svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1",
                 *       "token_type_hint": "refresh_token"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    token: string;
                    /** @enum {string} */
                    token_type_hint?: "access_token" | "refresh_token";
                };
            };
        };
        responses: {
            /** @description The token is good for nothing any more */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        trust: components["schemas"]["TrustEnvelope"];
                    };
                };
            };
            400: components["responses"]["oauth.400.unsupported_api_version.missing_nonce.invalid_request"];
            406: components["responses"]["oauth.406.not_acceptable"];
            409: components["responses"]["oauth.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["oauth.413.payload_too_large"];
            415: components["responses"]["oauth.415.unsupported_media_type"];
            429: components["responses"]["oauth.429.rate_limit_exceeded"];
            500: components["responses"]["oauth.500.internal_error"];
            503: components["responses"]["oauth.503.service_unavailable"];
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                event_type?: "agent.registered" | "auth.token_issued" | "auth.token_refreshed" | "auth.failed" | "agent.key_rotated" | "agent.key_revoked" | "agent.scope_changed" | "agent.tier_changed" | "commission.created" | "commission.verified" | "referral.activated" | "rate_limit.exceeded" | "data.accessed" | "data.exported" | "data.deleted" | "audit.verification_failed";
                /** @example info */
                severity?: "info" | "warning" | "critical";
                /** @description Not before this moment */
                since?: string;
                /** @description Agent or key, agent_…, its UUID, or key_… */
                actor_id?: string;
                /** @description Only older entries than this one: the next page while the log grows */
                before_sequence?: number;
                /**
                 * @description Entries per page; 50 when nothing is said
                 * @example 50
                 */
                limit?: number;
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description The same as limit, as other lists have it */
                per_page?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the log */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "chain_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *           "sequence": 1,
                     *           "event_id": "aud_01JQ2n4Kc7WyQhTzBdMpRs",
                     *           "event_type": "agent.registered",
                     *           "severity": "info",
                     *           "occurred_at": "2026-02-01T09:20:11.000Z",
                     *           "actor": {
                     *             "type": "agent",
                     *             "id": "agent_01JQ2kZr5uHn4GdPaLxWqB",
                     *             "ip_hash": null,
                     *             "user_agent": "curl/8.5.0"
                     *           },
                     *           "target": {
                     *             "type": "agent",
                     *             "id": "agent_01JQ2kZr5uHn4GdPaLxWqB"
                     *           },
                     *           "outcome": "success",
                     *           "environment": "live",
                     *           "request_id": "req_01JQ2kZr5uHn4GdPaLxWqC",
                     *           "details": {
                     *             "capabilities": [
                     *               "attribution"
                     *             ],
                     *             "referred": false,
                     *             "tier": "discovery"
                     *           },
                     *           "previous_hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                     *           "hash": "sha256:637c35ddf84de70fc12a1fe22440ed7857667e0c80f3648158a0d0e2f0504d11"
                     *         }
                     *       ],
                     *       "chain_verified": true,
                     *       "total_count": 1,
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 50,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        events: components["schemas"]["AuditEvent"][];
                        chain_verified: boolean;
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    verifyAuditChain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["AuditVerifyRequest"];
        responses: {
            /** @description What came of it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "chain_intact": true,
                     *       "entries_verified": 120,
                     *       "verified_at": "2026-02-01T09:30:00.000Z",
                     *       "first_broken_sequence": null,
                     *       "reason": null,
                     *       "heads_matched": 2,
                     *       "signed_through": 120,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 120,
                     *           "claims_total": 120,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AuditChainVerification"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /**
                 * @description Id of the last event that was seen, for clients that cannot set headers; 0 for all that are kept. Without it and Last-Event-ID the stream begins now
                 * @example 0
                 */
                after?: number;
                /** @description Only these; all that the scopes of the key may read when left out */
                types?: ("attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed")[];
            };
            header?: {
                /** @description Id of the last event that was seen; counts before after */
                "Last-Event-ID"?: number;
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event stream */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workspaces */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaces": [
                     *         {
                     *           "workspace_id": "ws_01JQ2pD4s7WyQhTzBdMpRs",
                     *           "name": "Spring collection",
                     *           "region": "eu",
                     *           "brand_ids": [
                     *             "brand_spring"
                     *           ],
                     *           "role": "owner",
                     *           "members": [
                     *             {
                     *               "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *               "role": "owner",
                     *               "added_by": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *               "added_at": "2026-02-01T09:20:11.000Z"
                     *             }
                     *           ],
                     *           "created_at": "2026-02-01T09:20:11.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        workspaces: components["schemas"]["Workspace"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    createWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["WorkspaceRequest"];
        responses: {
            /** @description The workspace */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspace_id": "ws_01JQ2pD4s7WyQhTzBdMpRs",
                     *       "name": "Spring collection",
                     *       "region": "eu",
                     *       "brand_ids": [
                     *         "brand_spring"
                     *       ],
                     *       "role": "owner",
                     *       "members": [
                     *         {
                     *           "agent_id": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "role": "owner",
                     *           "added_by": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *           "added_at": "2026-02-01T09:20:11.000Z"
                     *         }
                     *       ],
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    addWorkspaceAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Workspace, ws_…
                 * @example ws_01JQ2pD4s7WyQhTzBdMpRs
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["WorkspaceMemberRequest"];
        responses: {
            /** @description The agent was a member already; the membership as it is now */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspace_id": "ws_01JQ2pD4s7WyQhTzBdMpRs",
                     *       "agent_id": "agent_01JQ2qW8nTc5YhKzFdMpRs",
                     *       "role": "analyst",
                     *       "added_by": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "added_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceMembership"];
                };
            };
            /** @description The new membership */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspace_id": "ws_01JQ2pD4s7WyQhTzBdMpRs",
                     *       "agent_id": "agent_01JQ2qW8nTc5YhKzFdMpRs",
                     *       "role": "analyst",
                     *       "added_by": "agent_01JQ2jX9bLq7RtYpMwVsZe",
                     *       "added_at": "2026-02-01T09:20:11.000Z",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceMembership"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description `all` shows those that are off, too */
                active?: "true" | "all";
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *           "url": "https://hooks.spring.example/liftgraph",
                     *           "events": [
                     *             "*"
                     *           ],
                     *           "active": true,
                     *           "metadata": {
                     *             "shop": "spring"
                     *           },
                     *           "secret_prefix": "whsec_mZ…",
                     *           "api_version": "2026-02-01",
                     *           "environment": "live",
                     *           "created_at": "2026-02-01T09:20:11.000Z",
                     *           "updated_at": "2026-02-01T09:20:11.000Z",
                     *           "disabled_reason": null,
                     *           "stats": {
                     *             "delivered": 0,
                     *             "failed": 0,
                     *             "last_success_at": null,
                     *             "last_failure_at": null
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        webhooks: components["schemas"]["Webhook"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["WebhookRequest"];
        responses: {
            /** @description The webhook and its secret */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description Where to read what was made */
                    Location?: string;
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "url": "https://hooks.spring.example/liftgraph",
                     *       "events": [
                     *         "*"
                     *       ],
                     *       "active": true,
                     *       "metadata": {
                     *         "shop": "spring"
                     *       },
                     *       "secret_prefix": "whsec_mZ…",
                     *       "api_version": "2026-02-01",
                     *       "environment": "live",
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "updated_at": "2026-02-01T09:20:11.000Z",
                     *       "disabled_reason": null,
                     *       "stats": {
                     *         "delivered": 0,
                     *         "failed": 0,
                     *         "last_success_at": null,
                     *         "last_failure_at": null
                     *       },
                     *       "secret": "whsec_mZ9EXAMPLEexampleEXAMPLEexampleEXAMPLEexampl=",
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.validation_error.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "url": "https://hooks.spring.example/liftgraph",
                     *       "events": [
                     *         "*"
                     *       ],
                     *       "active": true,
                     *       "metadata": {
                     *         "shop": "spring"
                     *       },
                     *       "secret_prefix": "whsec_mZ…",
                     *       "api_version": "2026-02-01",
                     *       "environment": "live",
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "updated_at": "2026-02-01T09:20:11.000Z",
                     *       "disabled_reason": null,
                     *       "stats": {
                     *         "delivered": 0,
                     *         "failed": 0,
                     *         "last_success_at": null,
                     *         "last_failure_at": null
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description return=representation asks for an answer with a body */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone, with Prefer: return=representation */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description return=representation */
                    "Preference-Applied"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "deleted": true,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
            /** @description It is gone */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["WebhookUpdate"];
        responses: {
            /** @description The webhook as it is now, with the secret where one was set */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                     *       "url": "https://hooks.spring.example/liftgraph",
                     *       "events": [
                     *         "*"
                     *       ],
                     *       "active": false,
                     *       "metadata": {
                     *         "shop": "spring"
                     *       },
                     *       "secret_prefix": "whsec_mZ…",
                     *       "api_version": "2026-02-01",
                     *       "environment": "live",
                     *       "created_at": "2026-02-01T09:20:11.000Z",
                     *       "updated_at": "2026-02-01T09:20:11.000Z",
                     *       "disabled_reason": null,
                     *       "stats": {
                     *         "delivered": 0,
                     *         "failed": 0,
                     *         "last_success_at": null,
                     *         "last_failure_at": null
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["WebhookTestRequest"];
        responses: {
            /** @description What came of it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivered": true,
                     *       "event_type": "attribution.completed",
                     *       "delivery": {
                     *         "id": "dlv_01JQ2n4Kc7WyQhTzBdMpRs",
                     *         "event_id": "evt_01JQ2n4Kc7WyQhTzBdMpRt",
                     *         "event_type": "attribution.completed",
                     *         "attempt": 1,
                     *         "status": "success",
                     *         "url": "https://hooks.spring.example/liftgraph",
                     *         "response_status": 200,
                     *         "response_time_ms": 84,
                     *         "response_body": "ok",
                     *         "error": null,
                     *         "scheduled_at": "2026-02-01T09:30:00.000Z",
                     *         "sent_at": "2026-02-01T09:30:00.012Z",
                     *         "completed_at": "2026-02-01T09:30:00.096Z",
                     *         "next_attempt_at": null,
                     *         "request_headers": {
                     *           "X-SVC-Event": "attribution.completed",
                     *           "X-SVC-Attempt": "1"
                     *         },
                     *         "test": true
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Entries per page; 20 when nothing is said
                 * @example 20
                 */
                limit?: number;
                /** @example success */
                status?: "pending" | "success" | "failed";
                event_type?: "attribution.completed" | "attribution.updated" | "health.alert" | "health.recovered" | "forecast.ready" | "journey.milestone" | "campaign.anomaly" | "billing.invoice_created" | "billing.payment_received" | "billing.spend_alert" | "agent.tier_changed" | "commission.earned" | "commission.paid" | "commission.reversed";
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description The same as limit, as other lists have it */
                per_page?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of attempts */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveries": [
                     *         {
                     *           "id": "dlv_01JQ2n4Kc7WyQhTzBdMpRs",
                     *           "event_id": "evt_01JQ2n4Kc7WyQhTzBdMpRt",
                     *           "event_type": "attribution.completed",
                     *           "attempt": 1,
                     *           "status": "success",
                     *           "url": "https://hooks.spring.example/liftgraph",
                     *           "response_status": 200,
                     *           "response_time_ms": 84,
                     *           "response_body": "ok",
                     *           "error": null,
                     *           "scheduled_at": "2026-02-01T09:30:00.000Z",
                     *           "sent_at": "2026-02-01T09:30:00.012Z",
                     *           "completed_at": "2026-02-01T09:30:00.096Z",
                     *           "next_attempt_at": null,
                     *           "request_headers": {
                     *             "X-SVC-Event": "attribution.completed",
                     *             "X-SVC-Attempt": "1"
                     *           },
                     *           "test": false
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        deliveries: components["schemas"]["WebhookDelivery"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Webhook, a UUID
                 * @example 019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10
                 */
                webhook_id: string;
                /**
                 * @description Any attempt at the event, dlv_…
                 * @example dlv_01JQ2n4Kc7WyQhTzBdMpRs
                 */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempt that will be made */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": "dlv_01JQ2n4Kc7WyQhTzBdMpRu",
                     *         "event_id": "evt_01JQ2n4Kc7WyQhTzBdMpRt",
                     *         "event_type": "attribution.completed",
                     *         "attempt": 1,
                     *         "status": "pending",
                     *         "url": "https://hooks.spring.example/liftgraph",
                     *         "response_status": null,
                     *         "response_time_ms": null,
                     *         "response_body": null,
                     *         "error": null,
                     *         "scheduled_at": "2026-02-01T09:30:00.000Z",
                     *         "sent_at": null,
                     *         "completed_at": null,
                     *         "next_attempt_at": null,
                     *         "request_headers": null,
                     *         "test": false
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookRedelivery"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plans */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "plans": [
                     *         {
                     *           "plan_id": "pay_per_analysis",
                     *           "name": "Pay per analysis",
                     *           "price_cents": null,
                     *           "currency": "USD",
                     *           "interval": null,
                     *           "trial_days": null,
                     *           "per_analysis_fee": {
                     *             "rate": 0.05,
                     *             "floor_cents": 10
                     *           },
                     *           "limits": {
                     *             "requests_per_minute": 60,
                     *             "daily_limit": 10000
                     *           },
                     *           "features": [
                     *             "No monthly fee"
                     *           ],
                     *           "self_serve": true,
                     *           "current": true
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        plans: components["schemas"]["Plan"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listValueProofs: {
        parameters: {
            query?: {
                /**
                 * @description Entries per page; 50 when nothing is said
                 * @example 50
                 */
                limit?: number;
                /** @description Only that of this analysis */
                analysis_id?: string;
                /**
                 * @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too
                 * @example 2026-02
                 */
                period?: string;
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description The same as limit, as other lists have it */
                per_page?: number;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of value proofs */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "proofs": [
                     *         {
                     *           "receipt_id": "rcpt_01JQ2m7Bv4XgL9uTcPdYsF",
                     *           "analysis_id": "attr_01JQ2m6Yw3TfK8sVbNcXrE",
                     *           "revenue_lastclick_cents": 9842000,
                     *           "revenue_causal_cents": 11714970,
                     *           "delta_r_cents": 1872970,
                     *           "platform_fee_cents": 93649,
                     *           "billed": true,
                     *           "repeats": null,
                     *           "currency": "USD",
                     *           "signed_receipt": "eyJhbGciOiJFZERTQSIsInR5cCI6InN2Yy1yZWNlaXB0K2p3dCJ9.eyJpc3MiOiJodHRwczovL2FwaS5leGFtcGxlIn0.c2ln",
                     *           "created_at": "2026-02-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        proofs: components["schemas"]["ValueProof"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getBillingSummary: {
        parameters: {
            query?: {
                /**
                 * @description YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be asked for, too
                 * @example 2026-02
                 */
                period?: string;
                /** @description ISO 4217; the one with the most charges when absent, USD where there are none */
                currency?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The summary */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "period": "2026-02",
                     *       "currency": "USD",
                     *       "other_currencies": [
                     *         "EUR"
                     *       ],
                     *       "currency_symbol": "$",
                     *       "total_delta_r_cents": 1873070,
                     *       "platform_fee_cents": 93649,
                     *       "floor_fee_cents": 10,
                     *       "plan_fee_cents": 0,
                     *       "total_billed_cents": 93659,
                     *       "analyses_count": 2,
                     *       "effective_rate": 0.05,
                     *       "status": "accruing",
                     *       "invoice_id": null,
                     *       "due_date": null,
                     *       "spend_limit_cents": 200000,
                     *       "by_model": [
                     *         {
                     *           "model": "causal",
                     *           "analyses_count": 2,
                     *           "total_delta_r_cents": 1873070,
                     *           "total_billed_cents": 93659
                     *         }
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BillingSummaryAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getBillingUsage: {
        parameters: {
            query?: {
                /**
                 * @description ISO 4217; the one with the most charges when absent, USD where there are none
                 * @example USD
                 */
                currency?: string;
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "period": "2026-02",
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "spend_cents": 93659,
                     *       "spend_limit_cents": 200000,
                     *       "remaining_cents": 106341,
                     *       "delta_r_cents": 1873070,
                     *       "commission_earned_cents": 18730,
                     *       "analyses_count": 2,
                     *       "projected_spend_cents": 187318,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BillingUsageAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    setSpendLimit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["SpendLimitRequest"];
        responses: {
            /** @description The limit as it stands now */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "monthly_limit_cents": 200000,
                     *       "action": "block",
                     *       "currency": "USD",
                     *       "other_currencies": [],
                     *       "current_spend_cents": 93659,
                     *       "remaining_cents": 106341,
                     *       "resets_at": "2026-03-01T00:00:00.000Z",
                     *       "alert_thresholds": [
                     *         0.5,
                     *         0.8,
                     *         1
                     *       ],
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SpendLimitAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    subscribe: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                /** @description Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each */
                "SVC-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["SubscriptionRequest"];
        responses: {
            /** @description The subscription as it stands now */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description `true` where the answer was given before, and nothing happened this time */
                    "SVC-Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "sub_01JQ2m7Bv4XgL9uTcPdYsF",
                     *       "plan_id": "pro_trial",
                     *       "status": "trialing",
                     *       "started_at": "2026-02-01T09:30:00.000Z",
                     *       "current_period_start": "2026-02-01T09:30:00.000Z",
                     *       "current_period_end": "2026-02-15T09:30:00.000Z",
                     *       "trial_ends_at": "2026-02-15T09:30:00.000Z",
                     *       "cancel_at_period_end": true,
                     *       "next_plan_id": "pay_per_analysis",
                     *       "payment_method": "invoice",
                     *       "currency": "USD",
                     *       "amount_due_cents": 9900,
                     *       "invoice_id": null,
                     *       "workspace_id": null,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubscriptionAnswer"];
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.missing_nonce.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            402: components["responses"]["callers.402.payment_required"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            409: components["responses"]["callers.409.duplicate_nonce.idempotency_conflict.idempotency_in_progress.conflict"];
            413: components["responses"]["callers.413.payload_too_large"];
            415: components["responses"]["callers.415.unsupported_media_type"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "sub_01JQ2m7Bv4XgL9uTcPdYsF",
                     *       "plan_id": "pro_trial",
                     *       "status": "trialing",
                     *       "started_at": "2026-02-01T09:30:00.000Z",
                     *       "current_period_start": "2026-02-01T09:30:00.000Z",
                     *       "current_period_end": "2026-02-15T09:30:00.000Z",
                     *       "trial_ends_at": "2026-02-15T09:30:00.000Z",
                     *       "cancel_at_period_end": true,
                     *       "next_plan_id": "pay_per_analysis",
                     *       "payment_method": "invoice",
                     *       "currency": "USD",
                     *       "amount_due_cents": 9900,
                     *       "invoice_id": null,
                     *       "workspace_id": null,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubscriptionAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                /** @description Page, counted from 1. page × per_page must not pass 100 000. */
                page?: components["parameters"]["Page"];
                /** @description Entries per page. */
                per_page?: components["parameters"]["PerPage"];
                /** @example invoiced */
                status?: "invoiced" | "past_due" | "paid" | "void";
            };
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of invoices */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["PageLinks"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invoices": [
                     *         {
                     *           "invoice_id": "inv_01JQ2m7Bv4XgL9uTcPdYsF",
                     *           "period": "2026-01",
                     *           "currency": "USD",
                     *           "status": "invoiced",
                     *           "billed_to": "Frühling & Söhne",
                     *           "analyses_count": 2,
                     *           "platform_fee_cents": 93649,
                     *           "floor_fee_cents": 10,
                     *           "plan_fee_cents": 0,
                     *           "total_billed_cents": 93659,
                     *           "created_at": "2026-02-01T02:00:04.000Z",
                     *           "due_date": "2026-02-15",
                     *           "settled_at": null,
                     *           "payment_method": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 20,
                     *         "total": 1,
                     *         "total_pages": 1
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEnvelope"] & {
                        invoices: components["schemas"]["Invoice"][];
                    };
                };
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your own account. */
                "SVC-Workspace"?: string;
                /** @description Answers with this error; ignored with live keys */
                "SVC-Sandbox-Force"?: "rate_limit_exceeded" | "service_unavailable" | "internal_error";
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description Invoice, inv_…
                 * @example inv_01JQ2m7Bv4XgL9uTcPdYsF
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invoice */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invoice_id": "inv_01JQ2m7Bv4XgL9uTcPdYsF",
                     *       "period": "2026-01",
                     *       "currency": "USD",
                     *       "status": "invoiced",
                     *       "billed_to": "Frühling & Söhne",
                     *       "analyses_count": 2,
                     *       "platform_fee_cents": 93649,
                     *       "floor_fee_cents": 10,
                     *       "plan_fee_cents": 0,
                     *       "total_billed_cents": 93659,
                     *       "created_at": "2026-02-01T02:00:04.000Z",
                     *       "due_date": "2026-02-15",
                     *       "settled_at": null,
                     *       "payment_method": null,
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["InvoiceAnswer"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "SVC-Environment": components["headers"]["SVC-Environment"];
                    /** @description For If-None-Match */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["callers.400.unsupported_api_version.invalid_request"];
            401: components["responses"]["callers.401.invalid_api_key.expired_api_key"];
            403: components["responses"]["callers.403.ip_not_allowed.insufficient_permissions"];
            404: components["responses"]["callers.404.resource_not_found"];
            406: components["responses"]["callers.406.not_acceptable"];
            422: components["responses"]["callers.422.validation_error"];
            429: components["responses"]["callers.429.rate_limit_exceeded"];
            500: components["responses"]["callers.500.internal_error"];
            503: components["responses"]["callers.503.service_unavailable"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is up */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "SVC-API-Version": components["headers"]["SVC-API-Version"];
                    "SVC-HREI-Score": components["headers"]["SVC-HREI-Score"];
                    "SVC-HREI-Risk": components["headers"]["SVC-HREI-Risk"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "version": "1.0.0",
                     *       "api_version": "2026-02-01",
                     *       "environment": "live",
                     *       "time": "2026-02-01T09:30:00.000Z",
                     *       "uptime_seconds": 86400,
                     *       "checks": {
                     *         "database": {
                     *           "status": "ok",
                     *           "latency_ms": 2
                     *         },
                     *         "columnar_store": {
                     *           "status": "ok",
                     *           "latency_ms": 3
                     *         },
                     *         "queue": {
                     *           "status": "ok",
                     *           "queue_depth": 0
                     *         },
                     *         "gateway": {
                     *           "status": "ok",
                     *           "latency_ms": 1
                     *         },
                     *         "compute_pool": {
                     *           "status": "ok",
                     *           "threads": 8,
                     *           "queue_depth": 0
                     *         },
                     *         "disk": {
                     *           "status": "ok"
                     *         }
                     *       },
                     *       "trust": {
                     *         "hrei_score": 0,
                     *         "risk_level": "minimal",
                     *         "components": {
                     *           "detection": {
                     *             "score": 0,
                     *             "semantic_entropy": 0,
                     *             "calibration_error": 0,
                     *             "perplexity_anomaly": 0
                     *           },
                     *           "attribution": {
                     *             "score": 0,
                     *             "factual_grounding": 0,
                     *             "knowledge_graph_divergence": 0,
                     *             "prompt_sensitivity": 0
                     *           },
                     *           "provenance": {
                     *             "score": 0,
                     *             "source_retrievability": 0,
                     *             "temporal_displacement": 0,
                     *             "citation_reliability": 0
                     *           },
                     *           "consistency": {
                     *             "score": 0,
                     *             "internal_consistency": 0,
                     *             "logical_coherence": 0,
                     *             "cross_response_consistency": 0
                     *           },
                     *           "taxonomy": {
                     *             "score": 0,
                     *             "classifications": []
                     *           }
                     *         },
                     *         "verification": {
                     *           "ground_truth_source": "system_of_record",
                     *           "claims_verified": 1,
                     *           "claims_total": 1,
                     *           "confidence_intervals_included": false,
                     *           "model_run_traceable": false
                     *         },
                     *         "metadata": {
                     *           "hrei_version": "1.1.0",
                     *           "evaluated_at": "2026-02-01T09:30:00.000Z",
                     *           "weights": {
                     *             "detection": 0.25,
                     *             "attribution": 0.25,
                     *             "provenance": 0.2,
                     *             "consistency": 0.2,
                     *             "taxonomy": 0.1
                     *           }
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["anyone.400.unsupported_api_version.invalid_request"];
            406: components["responses"]["anyone.406.not_acceptable"];
            422: components["responses"]["anyone.422.validation_error"];
            500: components["responses"]["anyone.500.internal_error"];
            503: components["responses"]["anyone.503.service_unavailable"];
        };
    };
    onAttributionCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "attribution.completed",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "id": "attr_0351EFUQxpVTZ7WdNYMSuY",
                 *         "status": "completed",
                 *         "model": "causal",
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "date_range": [
                 *           "2026-01-01",
                 *           "2026-01-31"
                 *         ],
                 *         "delta_r_cents": 1872970,
                 *         "revenue_causal_cents": 11714970,
                 *         "revenue_lastclick_cents": 9842000,
                 *         "platform_fee_cents": 93649,
                 *         "currency": "USD",
                 *         "confidence": 0.88,
                 *         "top_channels": [
                 *           {
                 *             "channel": "meta_ads",
                 *             "causal_lift": 0.3717,
                 *             "roi": 2.41,
                 *             "spend": 12000,
                 *             "attributed_revenue": 40920.11,
                 *             "confidence": 0.91
                 *           }
                 *         ],
                 *         "hrei_score": 0.07,
                 *         "agent_id": "agent_0351EFSwMCuWsp5CADuBq8",
                 *         "input_digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                 *         "url": "https://api.example/v1/attribution/attr_0351EFUQxpVTZ7WdNYMSuY"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AttributionCompletedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onAttributionUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "attribution.updated",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "id": "attr_0351EFUQxpVTZ7WdNYMSuY",
                 *         "status": "completed",
                 *         "model": "causal",
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "date_range": [
                 *           "2026-01-01",
                 *           "2026-01-31"
                 *         ],
                 *         "delta_r_cents": 1872970,
                 *         "revenue_causal_cents": 11714970,
                 *         "revenue_lastclick_cents": 9842000,
                 *         "platform_fee_cents": 93649,
                 *         "currency": "USD",
                 *         "confidence": 0.88,
                 *         "top_channels": [
                 *           {
                 *             "channel": "meta_ads",
                 *             "causal_lift": 0.3717,
                 *             "roi": 2.41,
                 *             "spend": 12000,
                 *             "attributed_revenue": 40920.11,
                 *             "confidence": 0.91
                 *           }
                 *         ],
                 *         "hrei_score": 0.07,
                 *         "agent_id": "agent_0351EFSwMCuWsp5CADuBq8",
                 *         "input_digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                 *         "url": "https://api.example/v1/attribution/attr_0351EFUQxpVTZ7WdNYMSuY",
                 *         "revision": 2,
                 *         "previous_delta_r_cents": 1801220,
                 *         "reason": "late_data"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AttributionUpdatedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onHealthAlert: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "health.alert",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "score": 54,
                 *         "grade": "F",
                 *         "previous_score": 71,
                 *         "threshold": 60,
                 *         "reason": "The score fell below 60."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["HealthAlertEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onHealthRecovered: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "health.recovered",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "score": 68,
                 *         "grade": "D",
                 *         "previous_score": 54,
                 *         "threshold": 65,
                 *         "reason": "The score is back at 65 or more."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["HealthRecoveredEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onForecastReady: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "forecast.ready",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "id": "fcst_0351EFUQxpVTZ7WdNYMSuY",
                 *         "metric": "revenue",
                 *         "horizon_days": 30,
                 *         "summary": {
                 *           "total": 148200.5
                 *         },
                 *         "url": "https://api.example/v1/forecast/fcst_0351EFUQxpVTZ7WdNYMSuY"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ForecastReadyEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onJourneyMilestone: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "journey.milestone",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "milestone": 1000,
                 *         "converting_journeys": 1004,
                 *         "reached_at": "2026-01-31T17:58:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["JourneyMilestoneEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onCampaignAnomaly: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "campaign.anomaly",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "data_source_id": "ds_0351EFTBArmmpvm2tVZ2Qh",
                 *         "campaign_id": "spring",
                 *         "campaign_name": "spring",
                 *         "metric": "spend",
                 *         "observed": 940,
                 *         "expected": 410,
                 *         "z_score": 4.2,
                 *         "direction": "up",
                 *         "date": "2026-01-30"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CampaignAnomalyEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onBillingInvoiceCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "billing.invoice_created",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "invoice_id": "inv_0351EFUQxpVTZ7WdNYMSuY",
                 *         "period": "2026-01",
                 *         "total_billed_cents": 93649,
                 *         "currency": "USD",
                 *         "due_date": "2026-02-15"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BillingInvoiceCreatedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onBillingPaymentReceived: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "billing.payment_received",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "invoice_id": "inv_0351EFUQxpVTZ7WdNYMSuY",
                 *         "period": "2026-01",
                 *         "total_billed_cents": 93649,
                 *         "currency": "USD",
                 *         "due_date": "2026-02-15",
                 *         "paid_at": "2026-02-03T10:12:00.000Z",
                 *         "method": "invoice"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BillingPaymentReceivedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onBillingSpendAlert: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "billing.spend_alert",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "period": "2026-01",
                 *         "currency": "USD",
                 *         "threshold": 0.8,
                 *         "spend_cents": 162400,
                 *         "monthly_limit_cents": 200000,
                 *         "remaining_cents": 37600,
                 *         "action": "block",
                 *         "resets_at": "2026-02-01T00:00:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BillingSpendAlertEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onAgentTierChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "agent.tier_changed",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "agent_id": "agent_0351EFSwMCuWsp5CADuBq8",
                 *         "previous_tier": "discovery",
                 *         "tier": "partner",
                 *         "active_referrals": 5,
                 *         "rate_limits": {
                 *           "requests_per_minute": 120,
                 *           "daily_limit": 50000
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AgentTierChangedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onCommissionEarned: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "commission.earned",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "commission": {
                 *           "id": "com_0351EFUQxpVTZ7WdNYMSuY",
                 *           "agent_id": "agent_0351EFSwMCuWsp5CADuBq8",
                 *           "type": "l1_referral",
                 *           "source_agent_id": "agent_0351EFTBArmmpvm2tVZ2Qh",
                 *           "amount_cents": 9365,
                 *           "currency": "USD",
                 *           "delta_r_cents": 1872970,
                 *           "rate": 0.1,
                 *           "analysis_id": "attr_0351EFUQxpVTZ7WdNYMSuY",
                 *           "reverses": null,
                 *           "sequence": 1,
                 *           "created_at": "2026-01-31T17:58:00.000Z",
                 *           "payable_at": "2026-05-01T17:58:00.000Z",
                 *           "previous_hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
                 *           "ledger_hash": "sha256:1111111111111111111111111111111111111111111111111111111111111111"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CommissionEarnedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onCommissionPaid: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "commission.paid",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "payout_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *         "amount_cents": 9365,
                 *         "currency": "USD",
                 *         "commission_ids": [
                 *           "com_0351EFUQxpVTZ7WdNYMSuY"
                 *         ],
                 *         "commissions_count": 1,
                 *         "paid_at": "2026-06-01T02:00:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CommissionPaidEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
    onCommissionReversed: {
        parameters: {
            query?: never;
            header: {
                /** @description HMAC-SHA256 of the raw body under the secret, in hex */
                "X-SVC-Signature": components["parameters"]["X-SVC-Signature"];
                /** @description Type of the event */
                "X-SVC-Event": components["parameters"]["X-SVC-Event"];
                /** @description Id of the attempt, dlv_… */
                "X-SVC-Delivery": components["parameters"]["X-SVC-Delivery"];
                /** @description Number of the attempt at this event */
                "X-SVC-Attempt": components["parameters"]["X-SVC-Attempt"];
                /** @description Id of the event, evt_…: the same in every attempt, so that doubles can be dropped */
                "webhook-id": components["parameters"]["webhook-id"];
                /** @description When the attempt was made, seconds since 1970; refuse old ones */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /** @description As Standard Webhooks has it: v1, and HMAC-SHA256 of webhook-id.webhook-timestamp.body in base64. After a change of the secret two for 24 hours, with a space between them */
                "webhook-signature": components["parameters"]["webhook-signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_0351EFUQxpVTZ7WdNYMSuY",
                 *       "type": "commission.reversed",
                 *       "timestamp": "2026-01-31T17:58:00.000Z",
                 *       "api_version": "2026-02-01",
                 *       "environment": "live",
                 *       "webhook_id": "019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10",
                 *       "metadata": {},
                 *       "data": {
                 *         "commission": {
                 *           "id": "com_0351EFVmc9rKJ2qXW8TbZa",
                 *           "agent_id": "agent_0351EFSwMCuWsp5CADuBq8",
                 *           "type": "clawback",
                 *           "source_agent_id": "agent_0351EFTBArmmpvm2tVZ2Qh",
                 *           "amount_cents": -9365,
                 *           "currency": "USD",
                 *           "delta_r_cents": -1872970,
                 *           "rate": 0.1,
                 *           "analysis_id": "attr_0351EFUQxpVTZ7WdNYMSuY",
                 *           "reverses": "com_0351EFUQxpVTZ7WdNYMSuY",
                 *           "sequence": 2,
                 *           "created_at": "2026-01-31T17:58:00.000Z",
                 *           "payable_at": "2026-05-01T17:58:00.000Z",
                 *           "previous_hash": "sha256:1111111111111111111111111111111111111111111111111111111111111111",
                 *           "ledger_hash": "sha256:2222222222222222222222222222222222222222222222222222222222222222"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CommissionReversedEvent"];
            };
        };
        responses: {
            410: components["responses"]["webhook.gone"];
            "2XX": components["responses"]["webhook.taken"];
            default: components["responses"]["webhook.failed"];
        };
    };
}
