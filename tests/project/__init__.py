"""The project as a whole: its documentation, layers and packages."""
