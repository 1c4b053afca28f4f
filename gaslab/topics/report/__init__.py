"""The page that shows topics: `content` gathers what it says, `page` writes it as one file of HTML."""
