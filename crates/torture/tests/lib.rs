mod kills;
