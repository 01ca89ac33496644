/** The page on which a browser gives the token. */
export function loginPage(wrong: boolean): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drover: log in</title>
<link rel="stylesheet" href="/assets/board.css">
</head>
<body>
<main class="login">
<h1>Drover</h1>
<form method="post" action="/login">
<label>Token (<code>DROVER_API_TOKEN</code>)<input type="password" name="token" autocomplete="current-password" autofocus required></label>
${wrong ? '<p class="error" role="alert">That is not the token.</p>' : ""}
<button>Log in</button>
</form>
</main>
</body>
</html>
`;
}
